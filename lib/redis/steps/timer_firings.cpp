#include <string>
#include <utility>

#include "core/codec/cut_text.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/timer_event.hpp"
#include "redis/steps/timer_scripts.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<TakeTimers> {
    static Script script() {
        using namespace lua;
        return compose(TakeTimers::traits,
                       {expect, index, counter, timers, event_retries, timer_turn, timer_slice,
                        timer_put_back},
                       take_timers);
    }
    static void request(Request& request, const TakeTimers& step) {
        request.on(step.space, ":ei")
            .add(step.space)
            .add(step.listener)
            .add(step.limit)
            .add(step.confirm_within.count());
    }
    static TakenTimers reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 1);
        TakenTimers taken;
        if (!absent(*parts[0])) taken.wake_at = timer_instant(reply, *parts[0]);
        for (const auto* part : parts.subspan(1)) {
            const auto fields = items(*part, 6);
            FiredTimer timer{.id = std::string{text(*fields[0])},
                             .payload = encode(timer_payload(text(*fields[2]))),
                             .due_at = timer_instant(reply, *fields[1]),
                             .retries = timer_retries(*fields[3]),
                             .retries_max = timer_retries(*fields[4])};
            if (!absent(*fields[5])) {
                timer.confirm_by = timer_instant(reply, *fields[5]);
                timer.firing = number(*fields[5]);
            }
            taken.timers.push_back(std::move(timer));
        }
        return taken;
    }
};

template <>
struct StepProtocol<ConfirmTimer> {
    static Script script() {
        using namespace lua;
        return compose(ConfirmTimer::traits,
                       {expect, timers, event_retries, lazy_turns("tell_again")}, confirm_timer);
    }
    static Script joint_script() {
        return compose(
            "confirm_timers", script_kind(ConfirmTimer::traits),
            {lua::alone, lua::timers, lua::event_retries, as_function(script_of<ConfirmTimer>())},
            lua::confirm_timers);
    }
    static bool can_join(const ConfirmTimer&) { return true; }
    static void request(Request& request, const ConfirmTimer& step) {
        request.on(step.space, ":et").add(step.space).begin_own().add(step.id);
        request.add_if(step.retries);
        request.add_if(step.firing);
    }
    static TimerConfirmed reply(const ScriptReply& reply) {
        return number(reply.value) == 1 ? TimerConfirmed::confirmed : TimerConfirmed::unknown;
    }
};

template <>
struct StepProtocol<GiveUpTimer> {
    static Script script() {
        using namespace lua;
        return compose(GiveUpTimer::traits,
                       {expect, index, counter, timers, event_retries, timer_turn, timer_put_back},
                       give_up_timer);
    }
    static void request(Request& request, const GiveUpTimer& step) {
        request.on(step.space, ":et").add(step.space).add(step.id);
        request.add_if(step.retries);
        request.add_if(step.firing);
        request.arguments().add(detail::cut_text(step.reason, timer_reason_max));
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<LeaveTimers> {
    static Script script() {
        using namespace lua;
        return compose(LeaveTimers::traits, {expect, timers, timer_turn}, leave_timers);
    }
    static void request(Request& request, const LeaveTimers& step) {
        request.on(step.space, ":ch").add(step.space).add(step.listener);
    }
    static Done reply(const ScriptReply& reply) {
        if (number(reply.value) != 1) throw Unexpected{};
        return {};
    }
};

template struct Protocols<TimerFiringSteps>;

}  // namespace routemaster::redis
