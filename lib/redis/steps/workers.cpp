#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lua_sources.hpp"
#include "redis/steps/cancellations.hpp"
#include "redis/steps/job_batches.hpp"
#include "redis/steps/job_groups.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/worker_profiles.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<Heartbeat> {
    static Script script() {
        return compose(Heartbeat::traits, {lua::expect, lua::index, lua::profile}, lua::heartbeat);
    }
    static void request(Request& request, const Heartbeat& step) {
        request.on("workers").add(step.worker.text());
        if (step.profile == nullptr) return;
        std::string queues;
        for (const auto& queue : step.profile->queues) queues.append(queue).push_back('\0');
        request.arguments()
            .add(packed(*step.profile, request))
            .add(queues)
            .add(step.busy)
            .add(request.wire(step.busy_since))
            .add(step.profile->silence.count());
    }
    static HeartbeatReply reply(const ScriptReply& reply) {
        return {list<std::uint64_t>(reply.value,
                                    [](const redisReply& fence) { return count(fence).value; })};
    }
};

namespace {

ReleasedJobs released_jobs_in(const redisReply& reply) {
    const auto parts = items(reply, 2);
    ReleasedJobs released{.jobs = count(*parts[0]).value, .more = number(*parts[1]) == 1};
    for (std::size_t i = 2; i + 1 < parts.size(); i += 2) {
        released.buried.push_back({std::string{text(*parts[i])}, count(*parts[i + 1]).value});
    }
    return released;
}

}  // namespace

template <>
struct StepProtocol<RetireWorker> {
    static Script script() {
        using namespace lua;
        const auto groups = job_groups_part();
        const auto ends = batch_ends_part();
        const auto cancellations = cancellations_part();
        return compose(
            RetireWorker::traits,
            {expect,         unindex,       wake,       job,    callback, group_concurrency,
             ordering_group, ready,         place,      record, groups,   ranks,
             ends,           cancellations, throughput, keyed,  job_size, job_slice,
             profile,        worker,        release},
            retire_worker);
    }
    static void request(Request& request, const RetireWorker& step) {
        request.on("workers").add(step.worker.text());
    }
    static ReleasedJobs reply(const ScriptReply& reply) { return released_jobs_in(reply.value); }
};

template <>
struct StepProtocol<ScrubWorkers> {
    static Script script() {
        using namespace lua;
        const auto groups = job_groups_part();
        const auto ends = batch_ends_part();
        const auto cancellations = cancellations_part();
        return compose(ScrubWorkers::traits,
                       {expect,
                        index,
                        unindex,
                        wake,
                        counter,
                        job,
                        callback,
                        group_concurrency,
                        ordering_group,
                        ready,
                        place,
                        record,
                        groups,
                        ranks,
                        ends,
                        cancellations,
                        throughput,
                        keyed,
                        job_size,
                        job_slice,
                        profile,
                        worker,
                        release,
                        ungroup,
                        aux},
                       scrub_workers);
    }
    static void request(Request& request, const ScrubWorkers& step) {
        request.on("workers").add(step.silence.count());
    }
    static ReleasedJobs reply(const ScriptReply& reply) { return released_jobs_in(reply.value); }
};

template <>
struct StepProtocol<ListWorkers> {
    static constexpr std::string_view listed_names = "workers";

    static Script script() {
        using namespace lua;
        return compose(ListWorkers::traits, {page, job, keyed, record}, list_workers);
    }
    static void request(Request& request, const ListWorkers& step) {
        request.on(listed_names);
        request.page(step.page);
    }
    static std::vector<ListedWorker> reply(const ScriptReply& reply) {
        return list<ListedWorker>(reply.value, [&](const redisReply& one) {
            const auto parts = items(one, 5);
            ListedWorker worker{.id = uid(*parts[0]),
                                .seen = reply.time(*parts[1]),
                                .leased = count(*parts[2]).value};
            if (!absent(*parts[3])) worker.profile = profile_in(text(*parts[3]), reply);
            if (worker.profile) worker.busy = within<std::uint32_t>(*parts[4], 0U);
            for (std::size_t i = 5; i + 5 < parts.size(); i += 6) {
                worker.jobs.push_back(job_in(parts.subspan(i, 6), reply));
            }
            return worker;
        });
    }
    static LeasedByWorker job_in(std::span<redisReply* const> parts, const ScriptReply& reply) {
        LeasedByWorker job{.queue = std::string{text(*parts[0])},
                           .id = count(*parts[1]).value,
                           .job = std::string{text(*parts[2])},
                           .attempt = static_cast<std::uint32_t>(count(*parts[3]).value),
                           .cancelled = number(*parts[5]) == 1};
        if (number(*parts[4]) >= 0) job.since = reply.time(*parts[4]);
        return job;
    }
};

template <>
struct StepProtocol<FindQueueWorkers> {
    static Script script() {
        return compose(FindQueueWorkers::traits, {lua::queue_workers}, lua::find_queue_workers);
    }
    static void request(Request& request, const FindQueueWorkers& step) {
        request.on("routemaster:serving:", step.queue).add(step.queue);
        request.remember({.handler = step.handler});
    }
    static QueueWorkers reply(const ScriptReply& reply) {
        return queue_workers_in(reply.value, reply, reply.asked_for.handler);
    }
};

template struct Protocols<WorkerSteps>;

}  // namespace routemaster::redis
