/// @file
/// `ServedQueues`: when workers of each queue last sent a sign of life.

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Table of the latest sign of life by queue, even of workers that have died since. Beyond
/// `queues_max` queues, the queue with the oldest sign of life is evicted. Not stored on disk.
///
/// Not thread safe.
class ServedQueues {
public:
    void note(const std::string& queue, TimePoint now) {
        if (times_.size() >= queues_max && !times_.contains(queue)) {
            times_.erase(
                std::min_element(times_.begin(), times_.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; }));
        }
        times_.insert_or_assign(queue, now);
    }

    [[nodiscard]] std::optional<TimePoint> last(std::string_view queue) const {
        const auto found = times_.find(queue);
        return found == times_.end() ? std::nullopt : std::optional{found->second};
    }

private:
    static constexpr std::size_t queues_max = 1'000;

    std::map<std::string, TimePoint, std::less<>> times_;
};

}  // namespace routemaster::detail
