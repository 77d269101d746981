#include "routemaster/runner.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/store/completion_guard.hpp"
#include "core/system/owner_process.hpp"
#include "core/system/thread.hpp"
#include "core/work/handler_thread.hpp"
#include "routemaster/error.hpp"

namespace routemaster {

class Runner::Impl {
public:
    const detail::OwnerProcess process{"runner"};

    Impl(Active& active, const Clock& clock, SpareThread* spare)
        : active_{active}, clock_{clock}, turned_at_{clock.now()} {
        if (spare != nullptr && spare->lend([this] { take_turn(); })) spare_ = spare;
        active_.wake_with([this] { wake(); });
        thread_ = detail::start_thread<std::jthread>(
            [this](const std::stop_token& stopped) { run(stopped); });
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    ~Impl() {
        detail::require_outside(polls_here(), "runner", "a poll");
        if (thread_.joinable()) detail::require_outside_completion("runner");
        stop(Duration{0});
    }

    void stop(Duration grace) {
        {
            const std::lock_guard lock{mutex_};
            grace_ = grace;
            stopping_ = true;
            roused_ = true;
        }
        thread_.request_stop();
        changed_.notify_one();
        if (thread_.joinable()) thread_.join();
        active_.wake_with({});
        if (auto* const spare = no_longer_spare()) spare->take_back();
    }

    /// Whether the calling thread is inside a poll of this runner: its own thread, or a thread lent
    /// by a pool.
    [[nodiscard]] bool polls_here() const noexcept { return detail::HandlerThread::is_of(this); }

    [[nodiscard]] std::optional<std::string> trouble() const {
        const auto turn = clock_.now() - turned_at_.load();
        if (turn < turn_max) return std::nullopt;
        return "has not finished a poll for " + std::to_string(turn.count() / 1'000) + " s";
    }

private:
    static constexpr Duration turn_max{10'000};
    /// The longest sleep. The runner must notice soon when the system clock is set.
    static constexpr Duration sleep_max{1'000};

    void wake() {
        bool ask = false;
        {
            const std::lock_guard lock{mutex_};
            // A thread in a poll checks `woken_` at the end of the poll. No further notification is
            // needed.
            if (std::exchange(woken_, true) || polling_ || roused_) return;
            ask = spare_ != nullptr && !stopping_;
            roused_ = !ask;
        }
        if (ask) {
            // Called without the lock, because the thread that is lent to this runner may run at
            // once and then needs the lock.
            if (spare_->request_turn()) return;
            const std::lock_guard lock{mutex_};
            roused_ = true;
        }
        changed_.notify_one();
    }

    void run(const std::stop_token& stopped) {
        bool closing = false;
        std::unique_lock lock{mutex_};
        while (true) {
            poll_ended_.wait(lock, [this] { return !polling_; });
            begin_poll(lock);
            if (stopped.stop_requested() && !std::exchange(closing, true)) {
                active_.close(saturating_add(clock_.now(), grace()));
            }
            const auto next = poll();
            turned_at_ = clock_.now();
            if (closing && active_.closed()) return;
            sleep_until(lock, next);
            turned_at_ = clock_.now();
        }
    }

    TimePoint poll() {
        const detail::HandlerThread mark{this};
        const auto next = active_.poll(clock_.now());
        process.require_at_return();
        return next;
    }

    /// Sleeps until `next`, or until a wake-up. This also ends the poll: another thread may poll
    /// during the sleep.
    void sleep_until(std::unique_lock<std::mutex>& lock, TimePoint next) {
        const auto now = clock_.now();
        const auto until = std::min(next, now + sleep_max);
        std::chrono::nanoseconds left{0};
        if (next > now) left = clock_.until(until);
        lock.lock();
        polling_ = false;
        if (woken_ || left <= left.zero()) return;
        sleeps_until_ = until;
        changed_.wait_for(lock, left, [this] { return roused_; });
    }

    /// Begins a poll. Only one thread polls at a time. `active_` is called without the lock,
    /// because `active_` may call `wake` while holding a lock of its caller.
    void begin_poll(std::unique_lock<std::mutex>& lock) {
        polling_ = true;
        woken_ = false;
        roused_ = false;
        lock.unlock();
    }

    SpareThread* no_longer_spare() {
        const std::lock_guard lock{mutex_};
        return std::exchange(spare_, nullptr);
    }

    Duration grace() {
        const std::lock_guard lock{mutex_};
        return grace_;
    }

    /// Polls once on the thread that another object lends to this runner (`SpareThread`). If
    /// another poll is due, requests another call instead of looping, because the lent thread may
    /// have other work. The runner's own thread polls instead when the lent thread is busy, or when
    /// the next poll is due before the own thread would wake up.
    void take_turn() {
        std::unique_lock lock{mutex_};
        if (!woken_ || polling_ || stopping_) return;
        begin_poll(lock);
        const auto next = poll();
        const auto now = clock_.now();
        lock.lock();
        polling_ = false;
        woken_ = woken_ || next <= now;
        roused_ = stopping_ || (!woken_ && next < sleeps_until_);
        auto* const spare = woken_ && !stopping_ ? spare_ : nullptr;
        bool notify = roused_;
        lock.unlock();
        poll_ended_.notify_one();
        if (spare != nullptr && !spare->request_turn()) {
            lock.lock();
            roused_ = notify = true;
            lock.unlock();
        }
        if (notify) changed_.notify_one();
    }

    Active& active_;
    const Clock& clock_;
    std::atomic<TimePoint> turned_at_;  // When the last poll, or the sleep after it, ended.

    std::mutex mutex_;  // Guards the members below, except the thread.
    std::condition_variable changed_;
    std::condition_variable poll_ended_;
    SpareThread* spare_ = nullptr;
    bool woken_ = false;    // Set by `wake`: a poll is due.
    bool roused_ = false;   // The runner's own thread must run the next poll.
    bool polling_ = false;  // A thread is polling.
    bool stopping_ = false;
    TimePoint sleeps_until_{};
    Duration grace_{0};
    std::jthread thread_;
};

Runner::Runner(Active& active, const Clock& clock, SpareThread* spare)
    : impl_{std::make_unique<Impl>(active, clock, spare)} {}

Runner::~Runner() { detail::leave_to_parent(impl_); }

void Runner::stop(Duration grace) {
    detail::refuse_stop_in_completion();
    if (detail::own(impl_).polls_here()) {
        throw Failure{
            Error{Errc::invalid, "stop: must not be called inside a poll of this runner"}};
    }
    detail::own(impl_).stop(grace);
}

std::optional<std::string> Runner::trouble() const { return detail::own(impl_).trouble(); }

}  // namespace routemaster
