#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/queue_status.hpp"

namespace routemaster::redis {
namespace {

void add(Request& request, const std::optional<RateLimit>& limit) {
    const auto numbers = limit.value_or(RateLimit{.jobs = 0, .per = Duration{0}});
    request.arguments().add(numbers.jobs).add(numbers.per.count()).add(numbers.tokens_max());
}

/// Parses the limits in a value of `routemaster:limits`. An unreadable value means no limits.
RateLimits limits_in(std::string_view text) {
    std::array<std::int64_t, 7> numbers{};
    const auto* at = text.data();
    const auto* const end = at + text.size();
    for (auto& number : numbers) {
        const auto read = std::from_chars(at, end, number);
        if (read.ec != std::errc{}) return {};
        at = read.ptr == end ? end : read.ptr + 1;
    }
    const auto limit_at = [&](std::size_t i) -> std::optional<RateLimit> {
        if (numbers.at(i) == 0) return std::nullopt;
        return RateLimit{.jobs = static_cast<std::uint32_t>(numbers.at(i)),
                         .per = Duration{numbers.at(i + 1)},
                         .burst = static_cast<std::uint32_t>(numbers.at(i + 2))};
    };
    const RateLimits limits{.queue = limit_at(1), .each_group = limit_at(4)};
    return limits.check() ? limits : RateLimits{};
}

}  // namespace

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
struct StepProtocol<LimitQueue> {
    static Script script() {
        using namespace lua;
        return compose(LimitQueue::traits, {expect, index, unindex, enlist, delist}, limit_queue);
    }
    static void request(Request& request, const LimitQueue& step) {
        request.on("routemaster:limits").add(step.queue);
        add(request, step.limits.queue);
        add(request, step.limits.each_group);
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
        return compose(ListQueues::traits,
                       {page, deleted, record, queue_status, due_since, queue_workers},
                       list_queues);
    }
    static void request(Request& request, const ListQueues& step) {
        request.on(listed_names);
        request.page(step.page);
    }
    static std::vector<ListedQueue> reply(const ScriptReply& reply) {
        return list<ListedQueue>(reply.value, [&](const redisReply& one) {
            const auto parts = items(one, 6 + queue_status_parts);
            ListedQueue queue;
            queue.name = text(*parts.front());
            queue.status = queue_status_of(parts.subspan(1));
            const auto& since = *parts[1 + queue_status_parts];
            if (!absent(since)) queue.due_since = reply.time(since);
            const auto& limits = *parts[2 + queue_status_parts];
            if (!absent(limits)) queue.limits = limits_in(text(limits));
            queue.workers = count(*parts[3 + queue_status_parts]).value;
            queue.unprofiled = count(*parts[5 + queue_status_parts]).value;
            const auto& worker_at = *parts[4 + queue_status_parts];
            if (number(worker_at) >= 0) queue.worker_at = reply.time(worker_at);
            return queue;
        });
    }
};

template struct Protocols<QueueSteps>;

}  // namespace routemaster::redis
