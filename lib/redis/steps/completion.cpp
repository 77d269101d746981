#include "routemaster/step/completion.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/store_errors.hpp"
#include "lua_sources.hpp"
#include "redis/steps/nested_scripts.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/pushed.hpp"

namespace routemaster::redis {

namespace {

/// Checks the steps of a list as if they came alone.
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

}  // namespace

template <>
struct StepProtocol<CompleteJob> {
    static Script script() {
        using namespace lua;
        const auto ack = function_of<AckJob>();
        const auto push = function_of<PushJob>();
        const auto publish = function_of<PublishEvent>();
        return compose(CompleteJob::traits, {expect, wake, job, lease, ack, push, publish},
                       complete_job);
    }

    static Result<void> check_mixed_fleet(const CompleteJob& step, const RequestContext& context) {
        if (auto checked = check_all("pushes", step.pushes, context); !checked) return checked;
        return check_all("publications", step.publications, context);
    }

    static void request(Request& request, const CompleteJob& step) {
        request.on(step.lease).add(step.pushes.size());
        for (const auto& push : step.pushes) request.add_step(push);
        for (const auto& publication : step.publications) request.add_step(publication);
    }

    static Completed reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 1);
        const auto second = [&]() -> const redisReply& { return *items(reply.value, 2)[1]; };
        switch (number(*parts[0])) {
            case 0: return {.settlement = Settlement::lease_lost};
            case 1: break;
            case -1: throw refused(second(), detail::topic_claimed());
            case -2: throw refused(second(), detail::too_many_topics());
            case -3: throw refused(second(), detail::unknown_publisher());
            default: throw Unexpected{};
        }
        Completed completed;
        completed.pushed.reserve(parts.size() / 2);
        for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
            completed.pushed.push_back(pushed(*parts[i], *parts[i + 1]));
        }
        return completed;
    }
};

template struct Protocols<CompletionSteps>;

}  // namespace routemaster::redis
