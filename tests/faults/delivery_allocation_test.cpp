/// @file
/// Memory that runs out in the threads that deliver: each published event must still arrive.

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/bus/work/renewed_dispatcher.hpp"
#include "failing_allocation.hpp"
#include "file_scene.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/transport.hpp"

namespace routemaster::test {
namespace {

/// Delivers immediately, in the dispatcher's thread, and records the messages.
class NotingTransport final : public Transport {
public:
    [[nodiscard]] bool serves(std::string_view) const override { return true; }

    void deliver(Delivery delivery, DeliveryDone done) override {
        {
            const std::lock_guard lock{mutex_};
            for (const auto message : delivery.messages) arrived_.insert(std::string{message});
            changed_.notify_all();
        }
        done({.outcome = {}});
    }

    [[nodiscard]] bool await(const std::string& message) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, std::chrono::seconds{30},
                                 [&] { return arrived_.contains(message); });
    }

private:
    std::mutex mutex_;  // Guards the next members.
    std::condition_variable changed_;
    std::set<std::string> arrived_;
};

}  // namespace

TEST_CASE("an event is delivered even if memory runs out at any moment of its delivery") {
    FileScene scene;
    scene.subscribe("billing", 1);
    NotingTransport transport;
    detail::RenewedDispatcher dispatcher{*scene.store,
                                         {.transports = {&transport},
                                          .heartbeat_interval = Duration{20},
                                          .worker_silence = Duration{200}}};
    Runner runner{dispatcher};
    std::uint64_t failed = 0;
    for (std::uint64_t n = 1;; ++n) {
        CAPTURE(n);
        const auto message = "event " + std::to_string(n);
        std::optional<FailingAllocation> failing{std::in_place, Allocations::of_other_threads, n};
        // The store may still be recovering from an earlier failure, or its own allocation may
        // fail.
        while (!routemaster::perform(*scene.store, scene.event(message), system_clock().now())) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        REQUIRE(transport.await(message));
        if (!failing->happened()) break;
        ++failed;
        REQUIRE(n < 2'000);
    }
    CHECK(failed > 20);
    runner.stop(Duration{5'000});
}

}  // namespace routemaster::test
