#include <cstdint>

#include "lua_sources.hpp"
#include "redis/steps/cancellations.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<Heartbeat> {
    static Script script() { return compose(Heartbeat::traits, {lua::expect}, lua::heartbeat); }
    static void request(Request& request, const Heartbeat& step) {
        request.on("workers").add(step.worker.text());
    }
    static HeartbeatReply reply(const ScriptReply& reply) {
        return {list<std::uint64_t>(reply.value,
                                    [](const redisReply& fence) { return count(fence).value; })};
    }
};

template <>
struct StepProtocol<RetireWorker> {
    static Script script() {
        using namespace lua;
        const auto cancellations = cancellations_part();
        return compose(RetireWorker::traits,
                       {expect, wake, job, callback, ordering_group, ready, place, record, ranks,
                        cancellations, worker, release},
                       retire_worker);
    }
    static void request(Request& request, const RetireWorker& step) {
        request.on("workers").add(step.worker.text());
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<ScrubWorkers> {
    static Script script() {
        using namespace lua;
        const auto cancellations = cancellations_part();
        return compose(ScrubWorkers::traits,
                       {expect, index, wake, counter, job, callback, ordering_group, ready, place,
                        record, ranks, cancellations, worker, release},
                       scrub_workers);
    }
    static void request(Request& request, const ScrubWorkers& step) {
        request.on("workers").add(step.silence.count());
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template struct Protocols<WorkerSteps>;

}  // namespace routemaster::redis
