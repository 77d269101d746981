#include "routemaster/job_context.hpp"

namespace routemaster {

// --- Follow-ups ---------------------------------------------------------------------------------

/// `clock_` and `publications_` belong to the pool, which may already be destroyed when the attempt
/// has ended. They are used only before the end of the attempt.
template <class Add>
auto JobContext::follow(Add add) -> decltype(add(std::declval<FollowUps&>())) {
    const std::lock_guard lock{mutex_};
    auto before = Follow::none;
    if (!follow_.compare_exchange_strong(before, Follow::some) && before == Follow::ended) {
        return Error{Errc::invalid, "follow-ups: the attempt has ended"};
    }
    return add(follow_ups_);
}

Result<void> JobContext::push(const std::string& queue, const Job& job,
                              const PushOptions& options) {
    return follow([&](FollowUps& all) { return all.push(queue, job, options, clock_.now()); });
}

Result<void> JobContext::publish(const Event& event) {
    return follow([&](FollowUps& all) {
        return all.publish(event, publications_ != nullptr ? *publications_ : PublicationOptions{},
                           clock_.now());
    });
}

Result<std::string> JobContext::post(const std::string& space, const Value& payload, Duration delay,
                                     TimerOptions options) {
    return follow([&](FollowUps& all) {
        return all.post(space, payload, due_after(delay, clock_.now()), std::move(options));
    });
}

std::optional<FollowUps> JobContext::take_follow_ups() {
    // Most jobs add no follow-ups (jobs, events or timers added when a job completes). Ending such
    // a job needs no lock.
    auto before = Follow::none;
    if (follow_.compare_exchange_strong(before, Follow::ended)) return std::nullopt;
    const std::lock_guard lock{mutex_};
    follow_.store(Follow::ended);
    auto all = std::exchange(follow_ups_, {});
    if (all.empty()) return std::nullopt;
    return all;
}

// --- The end ------------------------------------------------------------------------------------

std::stop_token JobContext::stop_token() const {
    const std::lock_guard lock{mutex_};
    if (!source_) {
        source_.emplace();
        if (stop_requested()) source_->request_stop();
    }
    return source_->get_token();
}

void JobContext::request_stop() {
    std::optional<std::stop_source> source;
    {
        const std::lock_guard lock{mutex_};
        stopped_.store(true, std::memory_order_relaxed);
        source = source_;
    }
    // Outside the lock, because this runs callbacks of the handler.
    if (source) source->request_stop();
}

}  // namespace routemaster
