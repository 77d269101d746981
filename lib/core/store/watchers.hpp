/// @file
/// Subscriptions to the wake-ups of queues.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/store.hpp"

namespace routemaster::detail {

/// The wake-ups of a store. Thread safe; watches may outlive it.
class Watchers {
public:
    [[nodiscard]] Watch add(const std::string& queue, std::function<void()> wake) {
        const std::lock_guard lock{table_->mutex};
        const auto number = ++table_->last;
        table_->wakes.emplace(std::pair{queue, number}, std::move(wake));
        return Watch{[table = table_, key = std::pair{queue, number}] {
            const std::lock_guard unlisted{table->mutex};
            table->wakes.erase(key);
        }};
    }

    void wake(const std::vector<std::string>& queues) {
        if (queues.empty()) return;
        // Called under the lock, so that no wake-up comes after the end of its watch.
        const std::lock_guard lock{table_->mutex};
        for (const auto& queue : queues) {
            for (auto place = table_->wakes.lower_bound({queue, 0});
                 place != table_->wakes.end() && place->first.first == queue; ++place) {
                place->second();
            }
        }
    }

    /// Wakes all watchers.
    void wake_all() {
        const std::lock_guard lock{table_->mutex};
        for (const auto& [key, wake] : table_->wakes) wake();
    }

private:
    struct Table {
        std::mutex mutex;  // Guards the rest.
        std::map<std::pair<std::string, std::uint64_t>, std::function<void()>> wakes;
        std::uint64_t last = 0;
    };

    std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

}  // namespace routemaster::detail
