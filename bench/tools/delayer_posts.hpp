/// @file
/// `DelayerPosts`: the posts of timers in benchmarks.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "routemaster/clock.hpp"
#include "routemaster/delayer.hpp"
#include "run.hpp"
#include "timers.hpp"

namespace bench {

/// Posts the timers with the numbers `begin` to `end`, `in_flight` at a time.
///
/// Thread safety: one thread. It must outlive the completions.
class DelayerPosts {
public:
    /// Returns the due time of a timer.
    using Due = std::function<routemaster::TimePoint(std::uint64_t)>;

    /// The store must outlive this object.
    DelayerPosts(routemaster::Store& store, Due due, std::uint64_t begin, std::uint64_t end,
                 std::uint32_t retries_max)
        : timers_{store, timer_space},
          due_{std::move(due)},
          next_{begin},
          end_{end},
          open_{end - begin},
          retries_max_{retries_max} {}

    void run(std::uint32_t in_flight) {
        if (open_ == 0) return;
        for (std::uint32_t n = 0; n < in_flight; ++n) post();
        finish_.wait();
    }

private:
    void post() {
        const auto n = next_++;
        if (n >= end_) return;
        const auto due = due_(n);
        timers_.post(
            {routemaster::Value::Map{
                {"text", "hello"}, {"n", n}, {"due", routemaster::to_milliseconds(due)}}},
            due, {.id = "timer " + std::to_string(n), .retries_max = retries_max_},
            [this](routemaster::Result<routemaster::PostedTimer> posted) { posted_one(posted); });
    }

    void posted_one(const routemaster::Result<routemaster::PostedTimer>& posted) {
        if (!posted) return finish_.failed(posted.error().message());
        if (posted->outcome != routemaster::TimerPosted::posted) {
            return finish_.failed("a timer was there already");
        }
        post();
        if (--open_ == 0) finish_.reached();
    }

    routemaster::Delayer timers_;
    const Due due_;
    std::atomic<std::uint64_t> next_;
    const std::uint64_t end_;
    std::atomic<std::uint64_t> open_;
    const std::uint32_t retries_max_;
    Finish finish_;
};

}  // namespace bench
