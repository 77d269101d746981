/// @file
/// Gives an active object a thread and a clock.

#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "routemaster/active.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Polls an `Active` from a thread of its own: when it asked for it, and when it is woken. It
/// sleeps until that very instant and does not scan.
///
/// An exception that leaves `poll` ends the program, as it would leaving any other thread: what had
/// come with that turn would be lost, and the object would go on without. What is durable is done
/// after the next start.
///
/// Thread safety: the constructor, `stop` and the destructor from one thread; `trouble` from any.
class Runner {
public:
    /// Begins at once. `active` and `clock` must outlive it; nothing else may poll `active`.
    explicit Runner(Active& active, const Clock& clock = system_clock())
        : active_{active}, clock_{clock}, turned_at_{clock.now()} {
        active_.wake_with([this] { wake(); });
        thread_ = std::jthread{[this](const std::stop_token& stopped) { run(stopped); }};
    }

    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Stops as `stop(0)` does.
    ~Runner() { stop(Duration{0}); }

    /// Closes the object in an orderly way, which may take `grace` and a little more, and ends the
    /// thread. What has been done by then is still noted in the store; see `Active::close` of the
    /// object. Repeating it does nothing.
    void stop(Duration grace) {
        {
            const std::lock_guard lock{mutex_};
            grace_ = grace;
        }
        thread_.request_stop();
        wake();
        if (thread_.joinable()) thread_.join();
        active_.wake_with({});
    }

    /// Why the object gets nothing done: its last turn has not ended for 10 s. Nothing when all is
    /// well.
    [[nodiscard]] std::optional<std::string> trouble() const {
        const auto turn = clock_.now() - turned_at_.load();
        if (turn < turn_max) return std::nullopt;
        return "has been busy with one thing for " + std::to_string(turn.count() / 1'000) + " s";
    }

private:
    static constexpr Duration turn_max{10'000};
    /// Longest sleep, so that a step of the clock is noticed.
    static constexpr Duration sleep_max{1'000};

    void wake() {
        const std::lock_guard lock{mutex_};
        woken_ = true;
        changed_.notify_one();
    }

    void run(const std::stop_token& stopped) {
        bool closing = false;
        while (true) {
            if (stopped.stop_requested() && !closing) {
                closing = true;
                active_.close(saturating_add(clock_.now(), grace()));
            }
            const auto next = active_.poll(clock_.now());
            turned_at_ = clock_.now();
            if (closing && active_.closed()) return;
            sleep_until(next);
            turned_at_ = clock_.now();
        }
    }

    Duration grace() {
        const std::lock_guard lock{mutex_};
        return grace_;
    }

    void sleep_until(TimePoint next) {
        const auto now = clock_.now();
        std::unique_lock lock{mutex_};
        if (next > now) {
            changed_.wait_for(lock, std::min(next - now, sleep_max), [this] { return woken_; });
        }
        woken_ = false;
    }

    Active& active_;
    const Clock& clock_;
    std::atomic<TimePoint> turned_at_;  // When the last turn, or the sleep after it, ended.
    std::mutex mutex_;                  // Guards `woken_` and `grace_`.
    std::condition_variable changed_;
    bool woken_ = false;
    Duration grace_{0};
    std::jthread thread_;
};

}  // namespace routemaster
