#include "redis/steps/protocols.hpp"
#include "redis/steps/timer_scripts.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<RepostDeadTimers> {
    static Script script() {
        using namespace lua;
        return compose(RepostDeadTimers::traits,
                       {expect, timers, event_retries, timer_turn, dead_timers},
                       repost_dead_timers);
    }
    static void request(Request& request, const RepostDeadTimers& step) {
        request.on(step.space, ":routemaster:dead")
            .add(step.space)
            .add(step.id.value_or(""))
            .add(request.wire(step.due_at));
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<DropDeadTimers> {
    static Script script() {
        using namespace lua;
        return compose(DropDeadTimers::traits, {expect, timers, dead_timers}, drop_dead_timers);
    }
    static void request(Request& request, const DropDeadTimers& step) {
        request.on(step.space, ":routemaster:dead").add(step.space).add(step.id.value_or(""));
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template struct Protocols<DeadTimerSteps>;

}  // namespace routemaster::redis
