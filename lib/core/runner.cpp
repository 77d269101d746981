#include "routemaster/runner.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace routemaster {

class Runner::Impl {
public:
    Impl(Active& active, const Clock& clock)
        : active_{active}, clock_{clock}, turned_at_{clock.now()} {
        active_.wake_with([this] { wake(); });
        thread_ = std::jthread{[this](const std::stop_token& stopped) { run(stopped); }};
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    ~Impl() { stop(Duration{0}); }

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

    [[nodiscard]] std::optional<std::string> trouble() const {
        const auto turn = clock_.now() - turned_at_.load();
        if (turn < turn_max) return std::nullopt;
        return "has been busy with one thing for " + std::to_string(turn.count() / 1'000) + " s";
    }

private:
    static constexpr Duration turn_max{10'000};
    /// Longest sleep, so that the runner notices when the clock is set.
    static constexpr Duration sleep_max{1'000};

    void wake() {
        {
            const std::lock_guard lock{mutex_};
            if (std::exchange(woken_, true)) return;
        }
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
        std::chrono::nanoseconds left{0};
        if (next > now) left = clock_.until(std::min(next, now + sleep_max));
        std::unique_lock lock{mutex_};
        if (left > left.zero()) {
            changed_.wait_for(lock, left, [this] { return woken_; });
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

Runner::Runner(Active& active, const Clock& clock) : impl_{std::make_unique<Impl>(active, clock)} {}

Runner::~Runner() = default;

void Runner::stop(Duration grace) { impl_->stop(grace); }

std::optional<std::string> Runner::trouble() const { return impl_->trouble(); }

}  // namespace routemaster
