/// @file
/// `TimerTaker`: an imitation of a process that listens for timers on Redis.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/redis.hpp"
#include "support/await.hpp"

namespace routemaster::test {

/// Takes timers with its own store, after wake-ups and at the times that replies request. The
/// destructor simulates a power cut: it does not leave the listeners.
///
/// Thread safety: all members may be called from any thread.
class TimerTaker {
public:
    /// A timer taken by this object.
    struct Taken {
        FiredTimer timer{};
        TimePoint at{};
    };

    struct Settings {
        std::string space = "dt";
        std::uint32_t limit = 8;
        bool confirms = true;
        Duration confirm_within{10'000};
    };

    TimerTaker(const RedisAddress& address, std::string name, Settings settings)
        : store_{{.addresses = {address}}},
          name_{std::move(name)},
          settings_{std::move(settings)},
          watch_{store_.watch(timer_watch(settings_.space, name_), [this] { wake(); })},
          thread_{[this] { listen(); }} {}
    TimerTaker(const RedisAddress& address, std::string name)
        : TimerTaker{address, std::move(name), Settings{}} {}
    ~TimerTaker() {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
            changed_.notify_all();
        }
        thread_.join();
    }
    TimerTaker(const TimerTaker&) = delete;
    TimerTaker& operator=(const TimerTaker&) = delete;

    /// Simulates a suspended process: its connections stay open.
    void freeze(bool frozen) {
        const std::lock_guard lock{mutex_};
        frozen_ = frozen;
        changed_.notify_all();
    }

    /// Leaves the listeners, and stops asking for timers.
    void leave() {
        freeze(true);
        perform(store_, LeaveTimers{settings_.space, name_}, system_clock().now()).value();
    }

    [[nodiscard]] std::vector<Taken> taken() const {
        const std::lock_guard lock{mutex_};
        return taken_;
    }

    /// Waits for the `nth` firing of the timer `id`; nothing at the timeout.
    [[nodiscard]] std::optional<Taken> wait_for(const std::string& id, std::size_t nth = 1) const {
        std::optional<Taken> found;
        static_cast<void>(await([&] {
            std::size_t seen = 0;
            for (const auto& one : taken()) {
                if (one.timer.id == id && ++seen == nth) found = one;
            }
            return found.has_value();
        }));
        return found;
    }

    /// The number of requests for timers.
    [[nodiscard]] std::size_t asked() const {
        const std::lock_guard lock{mutex_};
        return asked_;
    }

    [[nodiscard]] RedisStore& store() noexcept { return store_; }

private:
    void wake() {
        const std::lock_guard lock{mutex_};
        woken_ = true;
        changed_.notify_all();
    }

    void listen() {
        std::unique_lock lock{mutex_};
        while (!stopping_) {
            changed_.wait(lock, [this] { return stopping_ || !frozen_; });
            woken_ = false;
            lock.unlock();
            const auto wake_at = take();
            lock.lock();
            // Polls every second, because a wake-up may be lost.
            const auto most = system_clock().now() + Duration{1'000};
            changed_.wait_until(lock, std::min(wake_at, most),
                                [this] { return stopping_ || woken_ || frozen_; });
        }
    }

    TimePoint take() {
        const auto taken = perform(store_,
                                   TakeTimers{.space = settings_.space,
                                              .listener = name_,
                                              .limit = settings_.limit,
                                              .confirm_within = settings_.confirm_within},
                                   system_clock().now());
        if (!taken) return system_clock().now() + Duration{20};
        const auto now = system_clock().now();
        {
            const std::lock_guard lock{mutex_};
            ++asked_;
            for (const auto& timer : taken->timers) taken_.push_back({timer, now});
        }
        for (const auto& timer : taken->timers) {
            if (!settings_.confirms || timer.confirm_by == never) continue;
            static_cast<void>(
                perform(store_, ConfirmTimer{settings_.space, timer.id, timer.retries}, now));
        }
        return taken->wake_at;
    }

    RedisStore store_;
    const std::string name_;
    const Settings settings_;

    mutable std::mutex mutex_;  // Guards the next five members.
    std::condition_variable changed_;
    std::vector<Taken> taken_;
    std::size_t asked_ = 0;
    bool woken_ = false;
    bool frozen_ = false;
    bool stopping_ = false;

    Watch watch_;
    std::thread thread_;
};

}  // namespace routemaster::test
