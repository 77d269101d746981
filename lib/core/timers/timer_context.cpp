#include "routemaster/timer_context.hpp"

#include "routemaster/error.hpp"
#include "routemaster/follow_ups.hpp"

namespace routemaster {

TimerContext::TimerContext(Timer timer, const Clock& clock, const PublicationOptions* publications)
    : Timer{std::move(timer)}, clock_{clock}, publications_{publications} {}

TimerContext::~TimerContext() = default;

/// `clock_` and `publications_` belong to the listener, which may already be destroyed when the
/// timer has ended. They are used only before the end of the timer.
template <class Reply, class Add>
Reply TimerContext::follow(Add add) {
    if (confirm_by == never) {
        return Error{Errc::invalid, "follow-ups: a timer without retries cannot have follow-ups"};
    }
    const std::lock_guard lock{mutex_};
    if (ended_) return Error{Errc::invalid, "follow-ups: the timer has ended"};
    if (follow_ups_ == nullptr) follow_ups_ = std::make_unique<FollowUps>();
    return add(*follow_ups_);
}

Result<void> TimerContext::push(const std::string& queue, const Job& job,
                                const PushOptions& options) {
    return follow<Result<void>>(
        [&](FollowUps& all) { return all.push(queue, job, options, clock_.now()); });
}

Result<void> TimerContext::publish(const Event& event) {
    return follow<Result<void>>([&](FollowUps& all) {
        return all.publish(event, publications_ != nullptr ? *publications_ : PublicationOptions{},
                           clock_.now());
    });
}

Result<void> TimerContext::act(const TimerAction& action) {
    return follow<Result<void>>([&](FollowUps& all) {
        return all.act(action, publications_ != nullptr ? *publications_ : PublicationOptions{},
                       clock_.now());
    });
}

Result<std::string> TimerContext::post(const std::string& timers, const Value& value,
                                       Duration delay, TimerOptions options) {
    return follow<Result<std::string>>([&](FollowUps& all) {
        return all.post(timers, value, due_after(delay, clock_.now()), std::move(options));
    });
}

std::optional<FollowUps> TimerContext::take_follow_ups() {
    const std::lock_guard lock{mutex_};
    ended_ = true;
    const auto all = std::exchange(follow_ups_, nullptr);
    if (all == nullptr || all->empty()) return std::nullopt;
    return std::move(*all);
}

}  // namespace routemaster
