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

DeadBatchStatus dead_batch(const redisReply& part, const ScriptReply& reply) {
    const auto parts = items(part, 7);
    return {.uid = uid(*parts[0]),
            .subscriber = std::string{text(*parts[3])},
            .created_at = reply.time(*parts[4]),
            .died_at = reply.time(*parts[1]),
            .attempts = within<std::uint32_t>(*parts[5], 0),
            .events = static_cast<std::uint64_t>(number(*parts[6])),
            .error = std::string{text(*parts[2])}};
}

std::string_view text_of(const std::optional<Uid>& uid) {
    return uid ? uid->text() : std::string_view{};
}

void add_dead(Request& request, const std::string& token, const std::optional<Uid>& batch) {
    request.on("routemaster:dead:", token).add(token).add(text_of(batch)).add(dead_moved_max);
}

}  // namespace

template <>
struct StepProtocol<ListDeadBatches> {
    static Script script() { return compose(ListDeadBatches::traits, {}, lua::list_dead_batches); }
    static void request(Request& request, const ListDeadBatches& step) {
        request.on("routemaster:dead:", step.token)
            .add(step.token)
            .add(step.limit)
            .add(text_of(step.after));
    }
    static std::vector<DeadBatchStatus> reply(const ScriptReply& reply) {
        if (reply.value.type == REDIS_REPLY_INTEGER) throw Failure{detail::not_dead()};
        return list<DeadBatchStatus>(reply.value,
                                     [&](const redisReply& one) { return dead_batch(one, reply); });
    }
};

template <>
struct StepProtocol<FindDeadBatch> {
    static Script script() { return compose(FindDeadBatch::traits, {}, lua::find_dead_batch); }
    static void request(Request& request, const FindDeadBatch& step) {
        request.on("routemaster:dead:", step.token).add(step.token).add(step.batch.text());
    }
    static std::optional<DeadMessages> reply(const ScriptReply& reply) {
        if (absent(reply.value)) return std::nullopt;
        DeadMessages found{dead_batch(reply.value, reply)};
        for (const auto* message : items(*items(reply.value, 8)[7])) {
            found.messages.append(text(*message));
        }
        return found;
    }
};

template <>
struct StepProtocol<RedeliverDeadBatches> {
    static Script script() {
        using namespace lua;
        return compose(RedeliverDeadBatches::traits,
                       {expect, index, wake, counter, job, callback, group_concurrency,
                        ordering_group, join, ready, place, batch_error, batch, dead, dead_asked},
                       redeliver_dead_batches);
    }
    static void request(Request& request, const RedeliverDeadBatches& step) {
        add_dead(request, step.token, step.batch);
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<DropDeadBatches> {
    static Script script() {
        using namespace lua;
        return compose(DropDeadBatches::traits, {expect, index, counter, dead, dead_asked},
                       drop_dead_batches);
    }
    static void request(Request& request, const DropDeadBatches& step) {
        add_dead(request, step.token, step.batch);
    }
    static Dropped reply(const ScriptReply& reply) { return dropped(reply.value); }
};

template struct Protocols<DeadBatchSteps>;

}  // namespace routemaster::redis
