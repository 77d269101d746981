/// @file
/// `Watchers`: callbacks that a store calls when a queue has jobs.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/system/owner_process.hpp"
#include "routemaster/store.hpp"

namespace routemaster::detail {

/// Table of the watches of a store. Thread safe. Watches may outlive the object.
class Watchers {
public:
    [[nodiscard]] Watch add(const std::string& queue, std::function<void()> wake) {
        const std::lock_guard lock{table_->mutex};
        const auto number = ++table_->last;
        table_->wakes[queue].emplace(number, std::move(wake));
        return Watch{[table = table_, queue, number] {
            if (!table->process.is_this()) return;
            const std::lock_guard unlisted{table->mutex};
            const auto place = table->wakes.find(queue);
            place->second.erase(number);
            if (place->second.empty()) table->wakes.erase(place);
        }};
    }

    /// Calls the callbacks that watch these queues. Allocates nothing, because without memory the
    /// outcomes of performed steps could not be reported.
    void wake(const std::vector<std::string>& queues) {
        if (queues.empty()) return;
        // The callbacks are called under the lock: no callback may run after the destruction of its
        // watch.
        const std::lock_guard lock{table_->mutex};
        for (const auto& queue : queues) {
            const auto place = table_->wakes.find(queue);
            if (place == table_->wakes.end()) continue;
            for (const auto& [number, wake] : place->second) wake();
        }
    }

    void wake_all() {
        const std::lock_guard lock{table_->mutex};
        for (const auto& [queue, wakes] : table_->wakes) {
            for (const auto& [number, wake] : wakes) wake();
        }
    }

private:
    struct Table {
        OwnerProcess process{"watch"};
        std::mutex mutex;  // Guards the members below.
        std::map<std::string, std::map<std::uint64_t, std::function<void()>>> wakes;  // By queue.
        std::uint64_t last = 0;
    };

    std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

}  // namespace routemaster::detail
