#include <string_view>
#include <vector>

#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/queue_status.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<PauseQueue> {
    static Script script() {
        using namespace lua;
        return compose(PauseQueue::traits, {index, unindex, enlist, delist}, pause_queue);
    }
    static void request(Request& request, const PauseQueue& step) {
        request.on("routemaster:paused").add(step.queue).add(step.paused ? 1 : 0);
    }
    static Done reply(const ScriptReply& reply) {
        if (number(reply.value) != 1) throw Unexpected{};
        return {};
    }
};

template <>
struct StepProtocol<ListQueues> {
    static constexpr std::string_view listed_names = "routemaster:queues";

    static Script script() {
        using namespace lua;
        return compose(ListQueues::traits, {page, deleted, record, queue_status, due_since},
                       list_queues);
    }
    static void request(Request& request, const ListQueues& step) {
        request.on(listed_names);
        request.page(step.page);
    }
    static std::vector<ListedQueue> reply(const ScriptReply& reply) {
        return list<ListedQueue>(reply.value, [&](const redisReply& one) {
            const auto parts = items(one, 2 + queue_status_parts);
            ListedQueue queue;
            queue.name = text(*parts.front());
            queue.status = queue_status_of(parts.subspan(1));
            const auto& since = *parts[1 + queue_status_parts];
            if (!absent(since)) queue.due_since = reply.time(since);
            return queue;
        });
    }
};

template struct Protocols<QueueSteps>;

}  // namespace routemaster::redis
