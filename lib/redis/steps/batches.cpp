#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/store_errors.hpp"
#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {
namespace {

QueuedBatch queued(const redisReply& part, const ScriptReply& reply) {
    const auto parts = items(part, 8);
    QueuedBatch found{.status = {.uid = uid(*parts[0]),
                                 .subscriber = reply.asked_for.name,
                                 .created_at = reply.time(*parts[1]),
                                 .attempts = within<std::uint32_t>(*parts[2], 0),
                                 .events = static_cast<std::uint64_t>(number(*parts[3])),
                                 .current = number(*parts[4]) == 1},
                      .delivery = static_cast<JobStatus::State>(number(*parts[5])),
                      .error = std::string{text(*parts[7])}};
    if (!text(*parts[6]).empty()) found.run_at = reply.time(*parts[6]);
    return found;
}

BatchAction action(const redisReply& reply) { return static_cast<BatchAction>(number(reply)); }

template <class S>
void add_batch(Request& request, const S& step) {
    request.on("batches:", step.batch.text()).add(step.token).add(step.batch.text());
}

}  // namespace

template <>
struct StepProtocol<ListBatches> {
    static Script script() {
        using namespace lua;
        return compose(ListBatches::traits, {job, batch_error, delivery_state}, list_batches);
    }
    static void request(Request& request, const ListBatches& step) {
        request.on("routemaster:group:", step.token)
            .add(step.token)
            .add(step.limit)
            .add(step.after ? step.after->text() : std::string_view{});
        request.remember({.name = step.token});
    }
    static std::vector<QueuedBatch> reply(const ScriptReply& reply) {
        if (reply.value.type == REDIS_REPLY_INTEGER) throw Failure{detail::not_queued()};
        return list<QueuedBatch>(reply.value,
                                 [&](const redisReply& one) { return queued(one, reply); });
    }
};

template <>
struct StepProtocol<FindBatch> {
    static Script script() {
        using namespace lua;
        return compose(FindBatch::traits, {job, batch_error, delivery_state}, find_batch);
    }
    static void request(Request& request, const FindBatch& step) {
        add_batch(request, step);
        request.remember({.name = step.token});
    }
    static std::optional<QueuedBatch> reply(const ScriptReply& reply) {
        if (absent(reply.value)) return std::nullopt;
        return queued(reply.value, reply);
    }
};

template <>
struct StepProtocol<DeliverBatch> {
    static Script script() {
        using namespace lua;
        return compose(DeliverBatch::traits,
                       {expect, index, wake, counter, job, callback, group_concurrency,
                        ordering_group, ready, place, batch_error, batch, delivery_state},
                       deliver_batch);
    }
    static void request(Request& request, const DeliverBatch& step) { add_batch(request, step); }
    static BatchAction reply(const ScriptReply& reply) { return action(reply.value); }
};

template <>
struct StepProtocol<DropBatch> {
    static Script script() {
        using namespace lua;
        return compose(DropBatch::traits,
                       {expect, index, wake, counter, job, callback, take_out_delivery,
                        group_concurrency, ordering_group, batch_error, batch},
                       drop_batch);
    }
    static void request(Request& request, const DropBatch& step) { add_batch(request, step); }
    static BatchAction reply(const ScriptReply& reply) { return action(reply.value); }
};

template struct Protocols<BatchSteps>;

}  // namespace routemaster::redis
