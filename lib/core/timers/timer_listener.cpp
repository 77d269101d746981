#include "routemaster/timer_listener.hpp"

#include <optional>
#include <utility>

#include "core/store/completion_guard.hpp"
#include "core/system/owner_process.hpp"
#include "core/system/thread.hpp"
#include "core/timers/work/timer_loop.hpp"
#include "core/work/handler_thread.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/error.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {
namespace {

Failure refused(const std::string& what) { return Failure{Error{Errc::invalid, what}}; }

void check_day(const char* field, Duration time) {
    constexpr Duration day{86'400'000};
    if (time >= Duration{1} && time <= day) return;
    throw refused(std::string{field} + ": must be from 1 ms to a day");
}

TimerListenerOptions checked(TimerListenerOptions options) {
    if (options.name.empty()) options.name = Uid{entropy(), entropy()}.text();
    if (!is_timer_name(options.name))
        throw refused("name: must be 1 to 64 of A-Z, a-z, 0-9, _, -, ., { and }, but not . or ..");
    if (options.batch_max == 0 || options.batch_max > taken_timers_max) {
        throw refused("batch_max: must be from 1 to " + std::to_string(taken_timers_max));
    }
    check_day("confirm_within", options.confirm_within);
    check_day("poll_interval", options.poll_interval);
    return options;
}

std::string checked_space(std::string space) {
    if (!is_timer_name(space))
        throw refused(
            "namespace: must be 1 to 64 of A-Z, a-z, 0-9, _, -, ., { and }, but not . or ..");
    if (space == action_space)
        throw refused("namespace: is reserved for actions; use an ActionRunner");
    return space;
}

detail::AnyTimerHandler checked(detail::AnyTimerHandler handler) {
    if (!handler.handle && !handler.begin) throw refused("handler: is empty");
    return handler;
}

}  // namespace

class TimerListener::Impl {
public:
    const detail::OwnerProcess process{"timer listener"};

    Impl(Store& store, std::string space, detail::AnyTimerHandler handler,
         TimerListenerOptions options)
        : clock_{options.clock != nullptr ? *options.clock : system_clock()},
          has_threads_{options.threads > 0},
          loop_{store, checked_space(std::move(space)), checked(std::move(handler)),
                checked(std::move(options))} {}

    void start() {
        if (runner_ || stopped_) throw refused("start: the listener was started already");
        if (loop_.begun()) throw refused("start: the listener is already driven by poll()");
        if (!has_threads_) {
            throw refused("start: a listener without threads must be driven by poll()");
        }
        loop_.begin();
        runner_.emplace(loop_, clock_);
        started_ = true;
    }

    void stop(Duration grace) {
        if (!started_ || stopped_) return;
        runner_->stop(grace);
        loop_.join();
        stopped_ = true;
    }

    TimePoint poll(TimePoint now) {
        if (started_) throw refused("poll: the listener was started, and runs on its own threads");
        return loop_.poll(now);
    }

    [[nodiscard]] detail::TimerLoop& loop() noexcept { return loop_; }

    /// Whether the listener's threads were started, by `start` or `poll`, and not yet joined.
    [[nodiscard]] bool has_running_threads() const noexcept {
        return has_threads_ && loop_.begun() && !stopped_;
    }

    [[nodiscard]] std::optional<std::string> trouble() const {
        if (stopped_) return "the listener has been stopped";
        if (started_) {
            if (auto why = runner_->trouble()) return "the listener " + *why;
        }
        return loop_.trouble();
    }

private:
    // The order matters: each member uses the members above it.
    const Clock& clock_;
    const bool has_threads_;
    detail::TimerLoop loop_;
    std::optional<Runner> runner_;
    std::atomic<bool> started_{false};
    std::atomic<bool> stopped_{false};
};

TimerListener::TimerListener(Store& store, std::string space, TimerHandler handler,
                             TimerListenerOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(space),
                                   detail::AnyTimerHandler{.handle = std::move(handler)},
                                   std::move(options))} {}

TimerListener::TimerListener(Store& store, std::string space, AsyncTimerHandler handler,
                             TimerListenerOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(space),
                                   detail::AnyTimerHandler{.begin = std::move(handler)},
                                   std::move(options))} {}

TimerListener::~TimerListener() {
    detail::leave_to_parent(impl_);
    if (impl_ == nullptr) return;
    detail::require_outside(detail::HandlerThread::is_of(&impl_->loop()), "timer listener",
                            "a handler");
    if (impl_->has_running_threads()) detail::require_outside_completion("timer listener");
    impl_->stop(Duration{0});
}

TimerListener::TimerListener(TimerListener&& other) noexcept = default;

void TimerListener::start() { detail::own(impl_).start(); }

void TimerListener::stop(Duration grace) {
    detail::refuse_stop_in_completion();
    if (detail::HandlerThread::is_of(&detail::own(impl_).loop())) {
        throw refused("stop: must not be called inside a handler");
    }
    detail::own(impl_).stop(grace);
}

TimePoint TimerListener::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void TimerListener::wake_with(std::function<void()> wake) {
    detail::own(impl_).loop().wake_with(std::move(wake));
}

void TimerListener::close(TimePoint deadline) { detail::own(impl_).loop().close(deadline); }

bool TimerListener::closed() const { return detail::own(impl_).loop().closed(); }

const std::string& TimerListener::name() const noexcept { return impl_->loop().name(); }

TimerListenerStatus TimerListener::status() const { return detail::own(impl_).loop().status(); }

std::optional<std::string> TimerListener::trouble() const { return detail::own(impl_).trouble(); }

}  // namespace routemaster
