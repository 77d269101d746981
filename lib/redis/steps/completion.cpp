#include "routemaster/store/step/completion.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/store_errors.hpp"
#include "lua_sources.hpp"
#include "redis/steps/job_batches.hpp"
#include "redis/steps/job_groups.hpp"
#include "redis/steps/nested_scripts.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/pushed.hpp"
#include "redis/steps/timer_scripts.hpp"

namespace routemaster::redis {

namespace {

template <class S>
Result<void> check_all(std::string_view list, const std::vector<S>& steps,
                       const RequestContext& context) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto call = step_call(Step{steps[i]}, context);
        if (!call) return detail::at_place(list, i, call.error());
    }
    return {};
}

Failure refused(const redisReply& place, const Error& error) {
    return Failure{detail::at_place("publications", count(place).value, error)};
}

template <class S>
void add_follow_ups(Request& request, const S& step) {
    request.arguments().add(step.pushes.size()).add(step.publications.size());
    for (const auto& push : step.pushes) request.add_step(push);
    for (const auto& publication : step.publications) request.add_step(publication);
    for (const auto& timer : step.timers) request.add_step(timer);
}

template <class S>
Result<void> check_follow_ups_of(const S& step, const RequestContext& context) {
    if (auto checked = check_all("pushes", step.pushes, context); !checked) return checked;
    if (auto checked = check_all("publications", step.publications, context); !checked) {
        return checked;
    }
    return check_all("timers", step.timers, context);
}

std::string follow_ups_part() {
    std::string text = job_groups_part();
    text += batch_ends_part();
    text += batches_part();
    text += function_of<PushJob>();
    text += function_of<PublishEvent>();
    text += function_of<PostTimer>();
    text += "local function expect_timers_of(ARGV)\n";
    text += lua::timers;
    text += "return expect_timers()\nend\n";
    return text += lua::follow_ups;
}

/// Parses the reply of both scripts. Returns false if the lease was lost or no firing awaited
/// confirmation.
bool read_reply(const ScriptReply& reply, std::vector<Pushed>& all_pushed,
                std::vector<TimerPosted>& all_posted) {
    const auto parts = items(reply.value, 1);
    const auto second = [&]() -> const redisReply& { return *items(reply.value, 2)[1]; };
    switch (number(*parts[0])) {
        case 0: return false;
        case 1: break;
        case -1: throw refused(second(), detail::topic_claimed());
        case -2: throw refused(second(), detail::too_many_topics());
        case -3: throw refused(second(), detail::unknown_publisher());
        case -4: throw refused(second(), detail::unknown_subscriber());
        default: throw Unexpected{};
    }
    const auto lists = items(reply.value, 3);
    const auto pushes = items(*lists[1], 0);
    for (std::size_t i = 0; i + 1 < pushes.size(); i += 2) {
        all_pushed.push_back(pushed(*pushes[i], *pushes[i + 1]));
    }
    for (const auto* timer : items(*lists[2], 0)) {
        all_posted.push_back(timer_posted(*timer));
    }
    return true;
}

}  // namespace

template <>
struct StepProtocol<CompleteJob> {
    static Script script() {
        using namespace lua;
        const auto ack = function_of<AckJob>();
        const auto follow = follow_ups_part();
        return compose(CompleteJob::traits, {expect, wake, job, lease, ack, follow}, complete_job);
    }

    static Result<void> check_mixed_fleet(const CompleteJob& step, const RequestContext& context) {
        return check_follow_ups_of(step, context);
    }

    static void request(Request& request, const CompleteJob& step) {
        request.on_job(step.lease);
        add_follow_ups(request, step);
    }

    static Completed reply(const ScriptReply& reply) {
        Completed completed;
        if (!read_reply(reply, completed.pushed, completed.posted)) {
            completed.settlement = Settlement::lease_lost;
        }
        return completed;
    }
};

template <>
struct StepProtocol<CompleteTimer> {
    static Script script() {
        using namespace lua;
        const auto confirm = function_of<ConfirmTimer>();
        const auto follow = follow_ups_part();
        return compose(CompleteTimer::traits, {expect, wake, job, event_retries, confirm, follow},
                       complete_timer);
    }

    static Result<void> check_mixed_fleet(const CompleteTimer& step,
                                          const RequestContext& context) {
        return check_follow_ups_of(step, context);
    }

    static void request(Request& request, const CompleteTimer& step) {
        request.on(step.space, ":et").add(step.space).add(step.id).add(step.retries);
        request.add_if(step.firing);
        add_follow_ups(request, step);
    }

    static CompletedTimer reply(const ScriptReply& reply) {
        CompletedTimer completed;
        if (!read_reply(reply, completed.pushed, completed.posted)) {
            completed.confirmation = TimerConfirmed::unknown;
        }
        return completed;
    }
};

template struct Protocols<CompletionSteps>;

}  // namespace routemaster::redis
