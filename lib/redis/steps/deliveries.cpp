#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

#include "core/store/dead_error.hpp"
#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/subscription_reply.hpp"

namespace routemaster::redis {
namespace {

std::string exact(double number) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return {text, end};
}

}  // namespace

template <>
struct StepProtocol<BeginDelivery> {
    static Script script() {
        using namespace lua;
        return compose(BeginDelivery::traits,
                       {expect, index, wake, counter, status, job, callback, group_concurrency,
                        ordering_group, ready, place, lease, batch_error, batch},
                       begin_delivery);
    }
    static void request(Request& request, const BeginDelivery& step) {
        request.on(step.lease)
            .add(step.backoff_max.count())
            .add(exact(step.jitter))
            .add(std::max(step.concurrency_max, 1U))
            .add(step.pause.count());
    }
    static DeliveryStart reply(const ScriptReply& reply) {
        const auto& r = reply.value;
        if (r.type == REDIS_REPLY_INTEGER) {
            constexpr Verdict verdicts[]{Verdict::lease_lost, Verdict::throttled, Verdict::vanished,
                                         Verdict::at_limit};
            if (r.integer < 0 || r.integer > 3) throw Unexpected{};
            return {.verdict = verdicts[r.integer]};
        }
        const auto parts = items(r, 14);
        DeliveryStart start{
            .verdict = Verdict::deliver,
            .subscription = subscription({parts[3], parts[4], parts[5], parts[6], parts[7],
                                          parts[8], parts[9], parts[10], parts[11]}),
            .health_points = within<int>(*parts[12], 100),
            .batch = uid(*parts[0]),
            .created_at = reply.time(*parts[1]),
            .attempt = within<std::uint32_t>(*parts[2], 1)};
        for (const auto* message : items(*parts[13])) start.messages.append(text(*message));
        return start;
    }
};

template <>
struct StepProtocol<SettleDelivery> {
    static Script script() {
        using namespace lua;
        return compose(SettleDelivery::traits,
                       {expect, index, wake, counter, status, job, callback, group_concurrency,
                        ordering_group, window, ready, place, lease, batch_error, batch, dead},
                       settle_delivery);
    }
    static void request(Request& request, const SettleDelivery& step) {
        request.on(step.lease)
            .add(step.delivered ? "1" : "0")
            .add(step.health_change)
            .add(request.wire(step.begun_at))
            .add(request.wire(step.retry_at))
            .add(step.permanent ? "1" : "0")
            .add(detail::kept_error(step.error))
            .add(std::max(step.concurrency_max, 1U));
    }
    static Settlement reply(const ScriptReply& reply) {
        return number(reply.value) == 2 ? Settlement::dead : settlement(reply.value);
    }
};

template struct Protocols<DeliverySteps>;

}  // namespace routemaster::redis
