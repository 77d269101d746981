#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/codec/recurring_settings.hpp"
#include "lua_sources.hpp"
#include "redis/steps/nested_scripts.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {
namespace {

constexpr std::string_view recurring_key = "routemaster:recurring";

/// Converts a tick without regard to the clock offset. Schedulers compare ticks, and each
/// conversion between clocks would change them by a few milliseconds.
std::int64_t as_it_is(TimePoint at) { return to_wire(at, Duration{0}); }
TimePoint as_it_is(const redisReply& part) { return from_wire(number(part), Duration{0}); }

RecurringJob recurring_job(const redisReply& reply) {
    const auto parts = items(reply, 9);
    RecurringJob job;
    job.name = text(*parts[0]);
    auto settings = detail::decode_settings(text(*parts[1]));
    if (!settings) throw Unexpected{};
    job.settings = *std::move(settings);
    job.paused = number(*parts[2]) != 0;
    job.next_at = as_it_is(*parts[3]);
    job.settled_until = as_it_is(*parts[4]);
    if (!absent(*parts[5])) job.last_at = as_it_is(*parts[5]);
    job.runs = count(*parts[6]).value;
    job.kept = count(*parts[7]).value;
    job.revision = uid(*parts[8]);
    return job;
}

}  // namespace

template <>
struct StepProtocol<PutRecurringJob> {
    static Script script() {
        using namespace lua;
        return compose(PutRecurringJob::traits, {expect, index, recurring}, put_recurring_job);
    }
    static void request(Request& request, const PutRecurringJob& step) {
        request.on(recurring_key)
            .add(step.name)
            .add(detail::encode_settings(*step.settings))
            .add(step.revision.text());
    }
    static Done reply(const ScriptReply& reply) {
        if (number(reply.value) != 1) throw Unexpected{};
        return {};
    }
};

template <>
struct StepProtocol<FindRecurringJob> {
    static Script script() {
        using namespace lua;
        return compose(FindRecurringJob::traits, {expect, recurring}, find_recurring_job);
    }
    static void request(Request& request, const FindRecurringJob& step) {
        request.on(recurring_key).add(step.name);
    }
    static std::optional<RecurringJob> reply(const ScriptReply& reply) {
        if (absent(reply.value)) return std::nullopt;
        return recurring_job(reply.value);
    }
};

template <>
struct StepProtocol<ListRecurringJobs> {
    static constexpr std::string_view listed_names = recurring_key;

    static Script script() {
        using namespace lua;
        return compose(ListRecurringJobs::traits, {page, expect, recurring}, list_recurring_jobs);
    }
    static void request(Request& request, const ListRecurringJobs& step) {
        request.on(recurring_key);
        request.page(step.page);
    }
    static std::vector<RecurringJob> reply(const ScriptReply& reply) {
        return list<RecurringJob>(reply.value, recurring_job);
    }
};

template <>
struct StepProtocol<RemoveRecurringJob> {
    static Script script() {
        using namespace lua;
        return compose(RemoveRecurringJob::traits, {expect, unindex, recurring},
                       remove_recurring_job);
    }
    static void request(Request& request, const RemoveRecurringJob& step) {
        request.on(recurring_key).add(step.name);
    }
    static Removal reply(const ScriptReply& reply) { return removal(reply.value); }
};

template <>
struct StepProtocol<PauseRecurringJob> {
    static Script script() {
        using namespace lua;
        return compose(PauseRecurringJob::traits, {expect, recurring}, pause_recurring_job);
    }
    static void request(Request& request, const PauseRecurringJob& step) {
        request.on(recurring_key).add(step.name).add(step.paused ? 1 : 0);
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<DueRecurringJobs> {
    static Script script() {
        using namespace lua;
        return compose(DueRecurringJobs::traits, {expect, recurring}, due_recurring_jobs);
    }
    static void request(Request& request, const DueRecurringJobs& step) {
        request.on("routemaster:recurring:due").add(step.limit);
    }
    static DueRecurring reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 2);
        DueRecurring due;
        due.now = as_it_is(*parts[0]);
        if (!absent(*parts[1])) due.next_at = as_it_is(*parts[1]);
        for (const auto* one : parts.subspan(2)) due.jobs.push_back(recurring_job(*one));
        return due;
    }
};

template <>
struct StepProtocol<RunRecurringJob> {
    static Script script() {
        using namespace lua;
        const auto push = function_of<PushJob>();
        const auto post = function_of<PostTimer>();
        return compose(RunRecurringJob::traits, {expect, recurring, push, post}, run_recurring_job);
    }
    static void request(Request& request, const RunRecurringJob& step) {
        request.on(recurring_key)
            .add(step.name)
            .add(step.revision.text())
            .add(as_it_is(step.at))
            .add(as_it_is(step.until))
            .add(as_it_is(step.next));
        if (step.push != nullptr) {
            request.arguments().add("push");
            request.add_step(*step.push);
        } else if (step.post != nullptr) {
            request.arguments().add("post");
            request.add_step(*step.post);
        } else if (step.anew) {
            request.arguments().add("anew");
        }
    }
    static RecurringRun reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 2);
        const auto outcome = number(*parts[0]);
        if (outcome < 0 || outcome > 3) throw Unexpected{};
        return {static_cast<RecurringRun::Outcome>(outcome), count(*parts[1]).value};
    }
};

template struct Protocols<RecurringSteps>;

}  // namespace routemaster::redis
