/// @file
/// `DeliveryReports`: collects the results of deliveries.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "routemaster/transport.hpp"

namespace routemaster::test {

/// Makes callbacks for deliveries, and waits for their reports. It must outlive the transport.
class DeliveryReports {
public:
    /// Returns a callback that records its report.
    [[nodiscard]] DeliveryDone keep() {
        return [this](DeliveryReport report) {
            const std::lock_guard lock{mutex_};
            reports_.push_back(std::move(report));
            changed_.notify_all();
        };
    }

    /// Waits for at least `count` reports, and returns all. Throws at the timeout.
    [[nodiscard]] std::vector<DeliveryReport> wait_for(std::size_t count) const {
        std::unique_lock lock{mutex_};
        const auto enough = [&] { return reports_.size() >= count; };
        if (!changed_.wait_for(lock, std::chrono::seconds{60}, enough)) {
            throw std::runtime_error{"reports do not come"};
        }
        return reports_;
    }

    /// All reports so far.
    [[nodiscard]] std::vector<DeliveryReport> all() const { return wait_for(0); }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<DeliveryReport> reports_;
};

}  // namespace routemaster::test
