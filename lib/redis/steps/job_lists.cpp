#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/codec/job_prefix.hpp"
#include "lua_sources.hpp"
#include "redis/steps/further_options.hpp"
#include "redis/steps/job_groups.hpp"
#include "redis/steps/metadata.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/queue_names.hpp"
#include "redis/steps/queue_status.hpp"

namespace routemaster::redis {
namespace {

std::uint32_t number_of(const redisReply& part) {
    return static_cast<std::uint32_t>(count(part).value);
}

JobStatus status_in(const redisReply& part, const ScriptReply& reply) {
    const auto parts = items(part, 13);
    JobStatus status;
    status.id = count(*parts[0]).value;
    status.state = static_cast<JobStatus::State>(std::clamp<std::int64_t>(number(*parts[1]), 0, 3));
    status.job = text(*parts[2]);
    if (status.state == JobStatus::State::scheduled) status.run_at = reply.time(*parts[3]);
    status.attempts = number_of(*parts[7]);
    if (const auto worker = text(*parts[8]); !worker.empty()) status.worker = uid(*parts[8]);
    TimeoutPart timeout{*parts[10]};
    status.options = {.attempts_max = number_of(*parts[9]),
                      .priority = timeout.priority,
                      .timeout = timeout.timeout,
                      .expires_at = reply.time(*parts[11]),
                      .metadata = std::move(timeout.metadata)};
    unpack_further(timeout.further, status.options);
    status.after = std::move(timeout.after);
    if (const auto key = text(*parts[4]); !key.empty()) {
        status.options.key = {
            .text = std::string{key},
            .scope = static_cast<KeyScope>(std::clamp<std::int64_t>(number(*parts[5]), 0, 2)),
            .until = reply.time(*parts[6])};
    }
    status.cancelled = number(*parts[12]) == -2;
    if (number(*parts[12]) >= 0) status.buried_at = reply.time(*parts[12]);
    for (std::size_t i = 13; i + 2 < parts.size(); i += 3) {
        const auto at = reply.time(*parts[i + 1]);
        const auto attempt = number_of(*parts[i]);
        if (const auto error = text(*parts[i + 2]); attempt > 0 || !error.empty()) {
            status.errors.push_back({attempt, at, std::string{error}});
        } else {
            status.failing_since = at;
        }
    }
    return status;
}

}  // namespace

template <>
struct StepProtocol<CountJobs> {
    static Script script() {
        using namespace lua;
        return compose(CountJobs::traits, {deleted, queue_status}, count_jobs);
    }
    static void request(Request& request, const CountJobs& step) {
        request.on("jobs:index:", step.queue).add(step.queue);
    }
    static QueueStatus reply(const ScriptReply& reply) {
        return queue_status_of(items(reply.value, queue_status_parts));
    }
};

template <>
struct StepProtocol<FindJob> {
    static Script script() {
        using namespace lua;
        return compose(FindJob::traits, {keyed, record, waiting, job_status}, find_job);
    }
    static void request(Request& request, const FindJob& step) {
        request.on("jobs:index:", step.queue).add(step.queue).add(step.id);
    }
    static FindJob::Reply reply(const ScriptReply& reply) {
        if (absent(reply.value)) return {};
        return status_in(reply.value, reply);
    }
};

template <>
struct StepProtocol<ExplainJob> {
    static Script script() {
        using namespace lua;
        const auto groups = job_groups_part();
        return compose(ExplainJob::traits,
                       {keyed, record, groups, waiting, deleted, queue_status, job_status},
                       explain_job);
    }
    static void request(Request& request, const ExplainJob& step) {
        request.on("jobs:index:", step.queue).add(step.queue).add(step.id);
    }
    static ExplainJob::Reply reply(const ScriptReply& reply) {
        if (absent(reply.value)) return {};
        const auto parts = items(reply.value, 5);
        JobExplanation all{.status = status_in(*parts[0], reply),
                           .queue = queue_status_of(items(*parts[1], queue_status_parts))};
        if (number(*parts[2]) >= 0) all.heard_at = reply.time(*parts[2]);
        if (number(*parts[3]) >= 0) all.leased_at = reply.time(*parts[3]);
        if (number(*parts[4]) >= 0) all.concurrency = number_of(*parts[4]);
        for (const auto* part : parts.subspan(5)) all.before.push_back(count(*part).value);
        return all;
    }
};

template <>
struct StepProtocol<ListJobs> {
    static Script script() {
        using namespace lua;
        return compose(ListJobs::traits, {keyed, record, waiting, job_status}, list_jobs);
    }
    static void request(Request& request, const ListJobs& step) {
        request.on("jobs:index:", step.queue)
            .add(step.queue)
            .add(static_cast<int>(step.state))
            .add(step.after)
            .add(step.limit)
            .add(step.name.empty() ? std::string{} : detail::job_prefix(step.name))
            .add(step.group);
    }
    static JobPage reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 1);
        JobPage page{.next = count(*parts[0]).value};
        for (const auto* part : parts.subspan(1)) page.jobs.push_back(status_in(*part, reply));
        return page;
    }
};

template <>
struct StepProtocol<KickJobs> {
    static Script script() {
        using namespace lua;
        const auto groups = job_groups_part();
        return compose(KickJobs::traits,
                       {expect, index, wake, counter, job, callback, ordering_group, ready, place,
                        keyed, record, groups, ranks, unrank, waiting, forget, burial, begin_anew},
                       kick_jobs);
    }
    static void request(Request& request, const KickJobs& step) {
        request.on("jobs:index:", step.queue).add(step.queue);
        request.add_if(step.id);
        request.arguments().add(step.limit);
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<DeleteJob> {
    static Script script() {
        using namespace lua;
        const auto names = queue_names_part();
        const auto groups = job_groups_part();
        return compose(DeleteJob::traits,
                       {expect, index, counter, keyed, record, groups, unrank, waiting, forget,
                        burial, deleted, job_status, take_out, names},
                       delete_job);
    }
    static void request(Request& request, const DeleteJob& step) {
        request.on("jobs:index:", step.queue).add(step.queue).add(step.id);
    }
    static Deletion reply(const ScriptReply& reply) {
        switch (number(reply.value)) {
            case 1: return Deletion::deleted;
            case 2: return Deletion::pending;
            default: return Deletion::unknown;
        }
    }
};

template <>
struct StepProtocol<CancelJob> {
    static Script script() {
        using namespace lua;
        const auto names = queue_names_part();
        const auto groups = job_groups_part();
        return compose(CancelJob::traits,
                       {expect, index, counter, keyed, record, groups, unrank, waiting, forget,
                        burial, deleted, job_status, take_out, names, cancelled},
                       cancel_job);
    }
    static void request(Request& request, const CancelJob& step) {
        request.on("jobs:index:", step.queue).add(step.queue).add(step.id);
    }
    static Cancellation reply(const ScriptReply& reply) {
        switch (number(reply.value)) {
            case 1: return Cancellation::cancelled;
            case 2: return Cancellation::requested;
            default: return Cancellation::unknown;
        }
    }
};

template struct Protocols<JobListSteps>;

}  // namespace routemaster::redis
