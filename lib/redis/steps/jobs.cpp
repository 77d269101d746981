#include <cstddef>
#include <cstdint>
#include <string>

#include "core/store/delivery_job.hpp"
#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<PushJob> {
    static Script script() {
        using namespace lua;
        return compose(PushJob::traits, {wake, job, callback, ordering_group, place}, push_job);
    }

    /// Ruby workers end at a job they do not know.
    static Result<void> check_mixed_fleet(const PushJob& step, const RequestContext&) {
        if (step.queue != "main" && step.queue != "aux") return {};
        if (step.queue == delivery_queue && detail::batch_of(step.job)) return {};
        return Error{Errc::invalid, "queue: " + step.queue + " belongs to Ruby workers"};
    }

    static void request(Request& request, const PushJob& step) {
        request.on("jobs:index:", step.queue)
            .add(step.queue)
            .add(step.job)
            .add(request.wire(step.run_at));
    }
    static PushOutcome reply(const ScriptReply& reply) {
        return number(reply.value) == 1 ? PushOutcome::pushed : PushOutcome::duplicate;
    }
};

template <>
struct StepProtocol<AcquireJobs> {
    static Script script() {
        using namespace lua;
        const auto turns =
            lazily("turns", {turn, release}, "take_turns, take_turn, take_called, release");
        return compose(AcquireJobs::traits,
                       {expect, wake, job, callback, ordering_group, place, turns}, acquire_jobs);
    }
    static void request(Request& request, const AcquireJobs& step) {
        request.on("jobs:instant:", step.queue)
            .add(step.queue)
            .add(step.worker.text())
            .add(step.limit)
            .add(step.known);
        if (!step.destinations) request.arguments().add("");
        if (step.destinations) {
            for (const auto& name : *step.destinations) request.arguments().add(name);
        }
        request.remember({.name = step.queue, .worker = step.worker});
    }
    static Acquired reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 1);
        Acquired acquired;
        if (!absent(*parts[0])) acquired.next_due = reply.time(*parts[0]);
        acquired.leases.reserve(parts.size() / 2);
        for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
            acquired.leases.push_back({reply.asked_for.name, std::string{text(*parts[i + 1])},
                                       reply.asked_for.worker,
                                       static_cast<std::uint64_t>(number(*parts[i]))});
        }
        return acquired;
    }
};

template <>
struct StepProtocol<AckJob> {
    static Script script() {
        using namespace lua;
        return compose(AckJob::traits, {expect, wake, job, lease}, ack_job);
    }
    static void request(Request& request, const AckJob& step) { request.on(step.lease); }
    static Settlement reply(const ScriptReply& reply) { return settlement(reply.value); }
};

template <>
struct StepProtocol<NackJob> {
    static Script script() {
        using namespace lua;
        return compose(NackJob::traits, {expect, wake, job, callback, ordering_group, place, lease},
                       nack_job);
    }
    static void request(Request& request, const NackJob& step) {
        request.on(step.lease).add(request.wire(step.run_at));
    }
    static Settlement reply(const ScriptReply& reply) { return settlement(reply.value); }
};

template <>
struct StepProtocol<Heartbeat> {
    static Script script() { return compose(Heartbeat::traits, {lua::expect}, lua::heartbeat); }
    static void request(Request& request, const Heartbeat& step) {
        request.on("workers").add(step.worker.text());
    }
    static Done reply(const ScriptReply&) { return {}; }
};

template <>
struct StepProtocol<RetireWorker> {
    static Script script() {
        using namespace lua;
        return compose(RetireWorker::traits,
                       {expect, wake, job, callback, ordering_group, place, worker, release},
                       retire_worker);
    }
    static void request(Request& request, const RetireWorker& step) {
        request.on("workers").add(step.worker.text());
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<ScrubWorkers> {
    static Script script() {
        using namespace lua;
        return compose(
            ScrubWorkers::traits,
            {expect, index, wake, counter, job, callback, ordering_group, place, worker, release},
            scrub_workers);
    }
    static void request(Request& request, const ScrubWorkers& step) {
        request.on("workers").add(step.silence.count());
    }
    static Count reply(const ScriptReply& reply) { return count(reply.value); }
};

template <>
struct StepProtocol<CountJobs> {
    static Script script() { return compose(CountJobs::traits, {}, lua::count_jobs); }
    static void request(Request& request, const CountJobs& step) {
        request.on("jobs:index:", step.queue).add(step.queue);
    }
    static QueueStatus reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 3);
        return {count(*parts[0]).value, count(*parts[1]).value, count(*parts[2]).value};
    }
};

template struct Protocols<JobSteps>;

}  // namespace routemaster::redis
