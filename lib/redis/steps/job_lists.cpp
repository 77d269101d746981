#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/codec/job_name.hpp"
#include "core/codec/job_prefix.hpp"
#include "lua_sources.hpp"
#include "redis/steps/further_options.hpp"
#include "redis/steps/job_batches.hpp"
#include "redis/steps/job_groups.hpp"
#include "redis/steps/job_status.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/queue_names.hpp"
#include "redis/steps/queue_status.hpp"
#include "redis/steps/worker_profiles.hpp"

namespace routemaster::redis {
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
                       {keyed, record, groups, waiting, deleted, queue_status, job_status,
                        rate_limits, queue_workers},
                       explain_job);
    }
    static void request(Request& request, const ExplainJob& step) {
        request.on("jobs:index:", step.queue).add(step.queue).add(step.id);
    }
    static ExplainJob::Reply reply(const ScriptReply& reply) {
        if (absent(reply.value)) return {};
        const auto parts = items(reply.value, 9);
        JobExplanation all{.status = status_in(*parts[0], reply),
                           .queue = queue_status_of(items(*parts[1], queue_status_parts))};
        if (number(*parts[2]) >= 0) all.heard_at = reply.time(*parts[2]);
        if (number(*parts[3]) >= 0) all.leased_at = reply.time(*parts[3]);
        if (number(*parts[4]) >= 0) all.concurrency = number_of(*parts[4]);
        if (number(*parts[5]) >= 0) all.queue_limited_until = reply.time(*parts[5]);
        if (number(*parts[6]) >= 0) all.group_limited_until = reply.time(*parts[6]);
        all.workers = queue_workers_in(*parts[7], reply, detail::name_of_job(all.status.job));
        all.now = reply.time(*parts[8]);
        const bool scheduled = all.status.state == JobStatus::State::scheduled;
        auto& named = scheduled ? all.buried : all.before;
        for (const auto* part : parts.subspan(9)) named.push_back(count(*part).value);
        return all;
    }
};

template <>
struct StepProtocol<ListJobs> {
    static Script script() {
        using namespace lua;
        return compose(ListJobs::traits, {keyed, record, job_size, job_slice, waiting, job_status},
                       list_jobs);
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
        const auto ends = batch_ends_part();
        return compose(
            KickJobs::traits,
            {expect,         index,      wake,     counter, job,    callback,   group_concurrency,
             ordering_group, ready,      place,    keyed,   record, job_size,   groups,
             ranks,          unrank,     ends,     waiting, forget, throughput, job_batch,
             burial,         begin_anew, job_slice},
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
        const auto ends = batch_ends_part();
        return compose(
            DeleteJob::traits,
            {expect, index, counter, keyed, record, groups, unrank, ends, waiting, forget,
             throughput, job_batch, burial, deleted, job_status, take_out, names},
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
        const auto ends = batch_ends_part();
        return compose(
            CancelJob::traits,
            {expect, index, counter, keyed, record, groups, unrank, ends, waiting, forget,
             throughput, job_batch, burial, deleted, job_status, take_out, names, cancelled},
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
