#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<PauseQueue> {
    static Script script() { return compose(PauseQueue::traits, {}, lua::pause_queue); }
    static void request(Request& request, const PauseQueue& step) {
        request.on("routemaster:paused").add(step.queue).add(step.paused ? 1 : 0);
    }
    static Done reply(const ScriptReply& reply) {
        if (number(reply.value) != 1) throw Unexpected{};
        return {};
    }
};

template struct Protocols<QueueSteps>;

}  // namespace routemaster::redis
