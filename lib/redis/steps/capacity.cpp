#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<MeasureUse> {
    static Script script() { return compose(MeasureUse::traits, {}, lua::measure_use); }
    static void request(Request& request, const MeasureUse&) { request.on("batches:index"); }
    static StoreUse reply(const ScriptReply& reply) { return {count(reply.value).value}; }
};

template <>
struct StepProtocol<DropOldestBatches> {
    static Script script() {
        using namespace lua;
        return compose(DropOldestBatches::traits,
                       {expect, index, wake, counter, job, callback, take_out_delivery,
                        group_concurrency, ordering_group, batch_error, batch, dead},
                       drop_oldest_batches);
    }
    static void request(Request& request, const DropOldestBatches& step) {
        request.on("batches:index").add(step.limit);
    }
    static Dropped reply(const ScriptReply& reply) { return dropped(reply.value); }
};

template struct Protocols<CapacitySteps>;

}  // namespace routemaster::redis
