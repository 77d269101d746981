/// @file
/// Helpers for cases with several threads, and for waiting for wake-ups.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster::testing {

/// Runs `body` in `count` threads, each with its number, and joins them. Rethrows the first
/// exception.
template <class Body>
void in_threads(unsigned count, Body body) {
    std::mutex mutex;  // Guards `thrown`.
    std::exception_ptr thrown;
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < count; ++i) {
            threads.emplace_back([&, i] {
                try {
                    body(i);
                } catch (...) {
                    const std::lock_guard lock{mutex};
                    if (!thrown) thrown = std::current_exception();
                }
            });
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

/// Counter of the calls of `raise`, on which another thread can wait.
///
/// Thread safety: all members may be called from any thread.
class Signal {
public:
    void raise() {
        const std::lock_guard lock{mutex_};
        ++count_;
        raised_.notify_all();
    }

    [[nodiscard]] std::uint64_t count() const {
        const std::lock_guard lock{mutex_};
        return count_;
    }

    /// Waits until `raise` was called more than `seen` times. Returns false after `timeout` of real
    /// time.
    [[nodiscard]] bool wait_beyond(std::uint64_t seen, Duration timeout) const {
        std::unique_lock lock{mutex_};
        return raised_.wait_for(lock, timeout, [&] { return count_ > seen; });
    }

private:
    mutable std::mutex mutex_;  // Guards `count_`.
    mutable std::condition_variable raised_;
    std::uint64_t count_ = 0;
};

}  // namespace routemaster::testing
