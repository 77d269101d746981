#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/cut_text.hpp"
#include "lua_sources.hpp"
#include "redis/process_name.hpp"
#include "redis/ruby_rules.hpp"
#include "redis/steps/cancellations.hpp"
#include "redis/steps/further_options.hpp"
#include "redis/steps/job_batches.hpp"
#include "redis/steps/job_groups.hpp"
#include "redis/steps/job_status.hpp"
#include "redis/steps/metadata.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/pushed.hpp"
#include "redis/steps/queue_names.hpp"
#include "redis/steps/queue_status.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/value.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<PushJob> {
    static Script script() {
        using namespace lua;
        const auto ruby_pushes =
            lazily("ruby_pushes",
                   {expect, job, callback, group_concurrency, ordering_group, place, ruby_push},
                   "ruby_push");
        const auto keyed_pushes = lazily("keyed_pushes",
                                         {expect, deleted, keyed, record, ranks, begin_anew, unrank,
                                          waiting, push_after, job_batch, push_keyed},
                                         "push_keyed");
        const auto records = lazily("records", {record, ranks}, "save, place_ranked, place_by");
        const auto afters =
            lazily("afters", {record, waiting, push_after}, "present, begin_waiting");
        const auto checks = lazily("checks", {expect}, "expect_queue");
        const auto names = queue_names_part();
        const auto groups = job_groups_part();
        const auto ends = batch_ends_part();
        const auto batches = batches_part();
        return compose(PushJob::traits,
                       {wake, ready, ruby_pushes, names, groups, ends, batches, keyed_pushes,
                        records, afters, checks},
                       push_job);
    }

    static Script idempotent_script() {
        using namespace lua;
        const auto counts = lazily("counts", {index, counter}, "count");
        return compose("push_once", script_kind(PushJob::traits),
                       {expect, counts, as_function(script_of<PushJob>())}, push_once);
    }
    static Script joint_script() {
        using namespace lua;
        const auto checks = lazily("checks", {expect}, "expect_queue");
        return compose("push_jobs", script_kind(PushJob::traits),
                       {wake, all_ready, queue_names_part(), checks}, push_jobs);
    }
    static bool can_join(const PushJob& step) {
        return !is_ruby_queue(step.queue) && has_defaults(step);
    }
    static bool has_defaults(const PushJob& step) {
        return step.options == JobOptions{} && step.after.empty() &&
               step.idempotency_key.text.empty();
    }

    static Result<void> check_mixed_fleet(const PushJob& step, const RequestContext&) {
        if (!is_ruby_queue(step.queue) || is_ruby_job(step.queue, step.job)) return {};
        return Error{Errc::invalid, "queue: " + step.queue +
                                        " belongs to Ruby workers, which do not know this job"};
    }

    static void request(Request& request, const PushJob& step) {
        request.on("jobs:index:", step.queue).add(step.queue);
        if (!step.idempotency_key.text.empty()) return request_once(request, step);
        request.arguments().begin_own().add(step.job).add(request.wire(step.run_at));
        if (has_defaults(step)) return;
        request.arguments()
            .add(step.options.attempts_max)
            .add(step.options.timeout.count())
            .add(request.wire(step.options.expires_at));
        const auto& key = step.options.key;
        const auto& metadata = step.options.metadata;
        const auto priority = step.options.priority;
        const auto further = packed_further(step.options);
        const bool waits = !step.after.empty();
        const bool has_last = priority != 0 || waits || !further.empty();
        if (key.text.empty() && metadata.empty() && !has_last) return;
        request.arguments()
            .add(key.text)
            .add(static_cast<int>(key.scope))
            .add(request.wire(key.until))
            .add(static_cast<int>(step.on_duplicate));
        if (metadata.empty() && !has_last) return;
        request.arguments().add(metadata.empty() ? std::string{} : packed(metadata));
        if (has_last) request.arguments().add(priority);
        if (waits || !further.empty()) request.arguments().add(further);
        if (waits) request.arguments().add(packed_ids(step.after));
    }
    static void request_once(Request& request, const PushJob& step) {
        const auto& key = step.idempotency_key;
        const bool of_call = key.time == Duration{0};
        request.arguments()
            .add(key.text)
            .add(std::to_string(key.fingerprint))
            .add((of_call ? request.repeated_within() : key.time).count())
            .add(of_call ? 0 : 1);
        auto push = step;
        push.idempotency_key = {};
        request.add_step(push);
    }
    static std::string packed_ids(const std::vector<JobId>& jobs) {
        const std::set<JobId> ids{jobs.begin(), jobs.end()};
        return encode(Value{Value::Array{ids.begin(), ids.end()}});
    }
    static Pushed reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 2);
        return pushed(*parts[0], *parts[1]);
    }
};

template <>
struct StepProtocol<AcquireJobs> {
    static Script script() {
        using namespace lua;
        const auto names = queue_names_part();
        const auto groups = job_groups_part();
        const auto ends = batch_ends_part();
        const auto limits = lazily("rate_limits", {lua::rate_limits, throttled}, "rates_of");
        const auto explanations = lazily("explanations", {lua::queue_status, lua::job_status},
                                         "queue_status, job_status");
        return compose(
            AcquireJobs::traits,
            {expect, index,      wake,      ready,       set_fields, job_slice, groups,
             ends,   counter,    keyed,     record,      job_size,   unrank,    waiting,
             forget, throughput, job_batch, burial,      deleted,    ranks,     next_ready,
             names,  take_own,   limits,    explanations},
            acquire_jobs);
    }
    static Script ruby_script() {
        using namespace lua;
        const auto turns =
            lazily("turns", {turn, release}, "take_turns, take_turn, take_called, release");
        const auto deliveries =
            lazily("deliveries",
                   {wake, job, callback, group_concurrency, ordering_group, ready, place,
                    set_fields, job_slice, turns},
                   "batch_of, subscriber_of, callback_in, concurrency_in, may_run, offer_to, "
                   "make_ready, tidy, set_fields, new_slice, turns");
        return compose(AcquireJobs::traits, {expect, index, deliveries}, acquire_ruby_jobs);
    }
    static void request(Request& request, const AcquireJobs& step) {
        request.on("jobs:instant:", step.queue)
            .add(step.queue)
            .add(step.worker.text())
            .add(step.limit)
            .add(step.known)
            .add(step.newest);
        const bool has_ids = !is_ruby_queue(step.queue);
        if (has_ids) {
            request.arguments().add(process_name());
        } else if (!step.destinations) {
            request.arguments().add("");
        } else {
            for (const auto& name : *step.destinations) request.arguments().add(name);
        }
        if (step.explain && has_ids) request.arguments().add(1);
        request.remember({.name = step.queue, .worker = step.worker});
    }
    static Acquired reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 1);
        Acquired acquired;
        const auto* due = parts[0];
        if (due->type == REDIS_REPLY_ARRAY) {
            const auto explained = items(*due, 3);
            acquired.explained.push_back(
                {.status = status_in(*explained[1], reply),
                 .queue = queue_status_of(items(*explained[2], queue_status_parts))});
            due = explained[0];
        }
        if (!absent(*due)) acquired.next_due = reply.time(*due);
        const std::size_t width = is_ruby_queue(reply.asked_for.name) ? 2 : 5;
        acquired.leases.reserve(parts.size() / width);
        for (std::size_t i = 1; i + width <= parts.size(); i += width) {
            if (absent(*parts[i + 1])) {
                acquired.held.push_back(count(*parts[i]).value);
                continue;
            }
            auto& lease =
                acquired.leases.emplace_back(Lease{.queue = reply.asked_for.name,
                                                   .job = std::string{text(*parts[i + 1])},
                                                   .worker = reply.asked_for.worker,
                                                   .fence = count(*parts[i]).value});
            if (width == 2) continue;
            lease.id = count(*parts[i + 2]).value;
            lease.attempt = static_cast<std::uint32_t>(count(*parts[i + 3]).value);
            TimeoutPart last{*parts[i + 4]};
            lease.options = AttemptOptions{.timeout = last.timeout,
                                           .metadata = std::move(last.metadata),
                                           .batch = batch_in(last.further)};
        }
        return acquired;
    }
};

template <>
struct StepProtocol<AckJob> {
    static Script script() {
        using namespace lua;
        const auto ruby_acks =
            lazily("ruby_acks", {expect, wake, job, lease, ruby_ack}, "ruby_ack");
        const auto dependents =
            lazily("dependents", {wake, ready, record, ranks, waiting, lua::release_dependents},
                   "release_dependents");
        const auto keyed_acks = lazily("keyed_acks",
                                       {expect, job, lease, keyed, record, forget, index, counter,
                                        keep_key, throughput, job_batch, keyed_ack},
                                       "keyed_ack");
        const auto checks = lazily("checks", {expect}, "expect, expect_queue");
        const auto names = queue_names_part();
        const auto groups = job_groups_part();
        const auto ends = batch_ends_part();
        const auto batches = batches_part();
        const auto folds = lazily("throughput", {lua::throughput}, "fold_throughput");
        return compose(
            AckJob::traits,
            {names, ruby_acks, groups, dependents, ends, batches, keyed_acks, checks, folds},
            ack_job);
    }
    static Script joint_script() {
        using namespace lua;
        const auto checks = lazily("checks", {expect}, "expect, expect_queue");
        const auto folds = lazily("throughput", {lua::throughput}, "fold_throughput");
        return compose(
            "ack_jobs", script_kind(AckJob::traits),
            {lua::alone, queue_names_part(), checks, folds, as_function(script_of<AckJob>())},
            ack_jobs);
    }
    static bool can_join(const AckJob& step) { return !is_ruby_queue(step.lease.queue); }

    static void request(Request& request, const AckJob& step) { request.on_job(step.lease); }
    static Settlement reply(const ScriptReply& reply) { return settlement(reply.value); }
};

/// The reply of a step that may bury a job.
Settlement settlement_or_burial(const redisReply& reply) {
    return number(reply) == 2 ? Settlement::buried : settlement(reply);
}

Script put_back_script(const StepTraits& traits, std::string_view body) {
    using namespace lua;
    const auto groups = job_groups_part();
    const auto ends = batch_ends_part();
    const auto cancellations = cancellations_part();
    return compose(traits,
                   {expect, wake, job, callback, group_concurrency, ordering_group, ready, place,
                    lease, record, groups, ranks, ends, cancellations, throughput, put_back},
                   body);
}

template <>
struct StepProtocol<NackJob> {
    static Script script() { return put_back_script(NackJob::traits, lua::nack_job); }
    static void request(Request& request, const NackJob& step) {
        request.on_job(step.lease).add(request.wire(step.run_at));
    }
    static Settlement reply(const ScriptReply& reply) { return settlement_or_burial(reply.value); }
};

template <>
struct StepProtocol<ReleaseJob> {
    static Script script() { return put_back_script(ReleaseJob::traits, lua::release_job); }
    static void request(Request& request, const ReleaseJob& step) {
        request.on_job(step.lease).add(request.wire(step.run_at));
    }
    static Settlement reply(const ScriptReply& reply) { return settlement(reply.value); }
};

template <>
struct StepProtocol<FailJob> {
    static Script script() {
        using namespace lua;
        const auto names = queue_names_part();
        const auto groups = job_groups_part();
        const auto ends = batch_ends_part();
        return compose(
            FailJob::traits,
            {expect,         index,  wake,     counter, job,    callback,   group_concurrency,
             ordering_group, ready,  place,    lease,   keyed,  record,     groups,
             ranks,          unrank, ends,     waiting, forget, throughput, job_batch,
             burial,         names,  cancelled},
            fail_job);
    }
    static void request(Request& request, const FailJob& step) {
        request.on_job(step.lease)
            .add(request.wire(step.run_at))
            .add(step.bury ? 1 : 0)
            .add(detail::cut_text(step.error, job_error_max))
            .add(step.time_max.count());
    }
    static Settlement reply(const ScriptReply& reply) { return settlement_or_burial(reply.value); }
};

template struct Protocols<JobSteps>;

}  // namespace routemaster::redis
