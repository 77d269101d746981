#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/steps/protocols.hpp"
#include "redis/steps/timer_event.hpp"
#include "redis/steps/timer_scripts.hpp"

namespace routemaster::redis {
namespace {

TimerStatus timer_status(const ScriptReply& reply, const redisReply& timer) {
    const auto parts = items(timer, 7);
    const auto state = number(*parts[0]);
    if (state < 0 || state > 2) throw Unexpected{};
    return {.id = std::string{text(*parts[1])},
            .payload = timer_payload(text(*parts[3])),
            .state = static_cast<TimerState>(state),
            .at = timer_instant(reply, *parts[2]),
            .retries = timer_retries(*parts[4]),
            .retries_max = timer_retries(*parts[5]),
            .reason = std::string{text(*parts[6])}};
}

std::string_view key_of(TimerState state) {
    switch (state) {
        case TimerState::pending: return ":ei";
        case TimerState::fired: return ":et";
        case TimerState::dead: return ":routemaster:dead";
    }
    return {};
}

}  // namespace

template <>
struct StepProtocol<PostTimer> {
    static Script script() {
        using namespace lua;
        return compose(PostTimer::traits, {expect, timers, timer_confirm, lazy_turns("tell_of")},
                       post_timer);
    }
    static Script joint_script() {
        return compose("post_timers", script_kind(PostTimer::traits),
                       {lua::alone, lua::timers, as_function(script_of<PostTimer>())},
                       lua::post_timers);
    }
    static bool can_join(const PostTimer& step) { return !step.keep; }
    static void request(Request& request, const PostTimer& step) {
        request.on(step.space, ":ei")
            .add(step.space)
            .begin_own()
            .add(step.id)
            .add(timer_event(step.id, step.payload, step.retries_max))
            .add(request.wire(step.due_at))
            // A timer without retries is never confirmed, so 0 is sent as its time to confirm.
            .add(step.retries_max > 0 ? step.confirm_within.count() : 0);
        if (step.keep) request.arguments().add(1);
    }
    static TimerPosted reply(const ScriptReply& reply) { return timer_posted(reply.value); }
};

template <>
struct StepProtocol<CancelTimer> {
    static Script script() {
        using namespace lua;
        return compose(CancelTimer::traits, {expect, timers, timer_turn}, cancel_timer);
    }
    static void request(Request& request, const CancelTimer& step) {
        request.on(step.space, ":ei").add(step.space).add(step.id);
    }
    static Removal reply(const ScriptReply& reply) { return removal(reply.value); }
};

template <>
struct StepProtocol<PostponeTimer> {
    static Script script() {
        using namespace lua;
        return compose(PostponeTimer::traits, {expect, timers, timer_turn}, postpone_timer);
    }
    static void request(Request& request, const PostponeTimer& step) {
        request.on(step.space, ":ei").add(step.space).add(step.id).add(request.wire(step.due_at));
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<FindTimer> {
    static Script script() {
        using namespace lua;
        return compose(FindTimer::traits, {timers, event_retries, timer_reply}, find_timer);
    }
    static void request(Request& request, const FindTimer& step) {
        request.on(step.space, ":ei").add(step.space).add(step.id);
    }
    static std::optional<TimerStatus> reply(const ScriptReply& reply) {
        if (absent(reply.value)) return std::nullopt;
        return timer_status(reply, reply.value);
    }
};

template <>
struct StepProtocol<ListTimers> {
    static Script script() {
        using namespace lua;
        return compose(ListTimers::traits, {timers, event_retries, timer_reply}, list_timers);
    }
    static void request(Request& request, const ListTimers& step) {
        request.on(step.space, key_of(step.state))
            .add(step.space)
            .add(static_cast<int>(step.state))
            .add(request.wire(step.from))
            .add(step.after)
            .add(request.wire(step.until))
            .add(step.limit);
    }
    static std::vector<TimerStatus> reply(const ScriptReply& reply) {
        return list<TimerStatus>(
            reply.value, [&](const redisReply& timer) { return timer_status(reply, timer); });
    }
};

template <>
struct StepProtocol<CountTimers> {
    static Script script() {
        using namespace lua;
        return compose(CountTimers::traits, {timers}, count_timers);
    }
    static void request(Request& request, const CountTimers& step) {
        request.on(step.space, ":ei").add(step.space);
    }
    static TimerCounts reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 5);
        TimerCounts counts{.pending = count(*parts[0]).value,
                           .fired = count(*parts[1]).value,
                           .dead = count(*parts[2]).value,
                           .listeners = count(*parts[3]).value};
        if (!absent(*parts[4])) counts.next_due = timer_instant(reply, *parts[4]);
        return counts;
    }
};

template struct Protocols<TimerSteps>;

}  // namespace routemaster::redis
