/// @file
/// `ExpectedKeys`: the keys that a Redis store should have after the same steps as a state machine.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/batch_callback.hpp"
#include "core/codec/recurring_settings.hpp"
#include "core/state/machine.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/value.hpp"
#include "support/redis_keys.hpp"

namespace routemaster::test {

/// Builds the canonical dump (see redis_keys.hpp) of a state machine. Leaves out data without
/// influence on replies: waiting workers, heartbeats of workers, and the list of queues.
class ExpectedKeys {
public:
    /// `tokens` are all subscribers that ever existed.
    ExpectedKeys(detail::Machine& machine, std::vector<std::string> tokens)
        : machine_{machine}, tokens_{std::move(tokens)} {}

    [[nodiscard]] RedisKeys all() {
        add_topics();
        add_subscribers();
        for (const auto& token : tokens_) add_batches(token);
        for (const auto* queue : {"main", "work"}) add_jobs(queue);
        for (const auto& [label, kept] : machine_.jobs().kept_keys().table()) {
            keys_.set("routemaster:kept_keys", label + "@" + text(kept.until));
        }
        for (const auto& [name, paused] : machine_.jobs().queues().paused()) {
            keys_.set("routemaster:paused", name);
        }
        if (machine_.jobs().queues().open("work").rates != nullptr)
            keys_.set("routemaster:paused", ":work");
        add_recurring();
        add_timers();
        add_job_batches(false);
        add_job_batches(true);
        add_leases();
        if (const auto id = machine_.jobs().sequences().open("jobs").last; id > 0) {
            keys_.list("routemaster:job_id", std::to_string(id));
        }
        if (const auto id = machine_.jobs().sequences().open("job_batches").last; id > 0) {
            keys_.list("routemaster:job_batch_id", std::to_string(id));
        }
        for (const auto& token : machine_.registry().tokens(everything)) {
            keys_.hash("api_tokens:by_token", token.token, token.name);
        }
        for (const auto& counter : machine_.counters().list({.limit = UINT32_MAX})) {
            keys_.hash("counters", encode_counter_key(counter.key), std::to_string(counter.value));
        }
        return std::move(keys_);
    }

private:
    inline static const Page everything{.after = {}, .limit = 1'000'000};

    static std::string text(TimePoint at) { return std::to_string(to_milliseconds(at)); }

    void add_recurring() {
        for (const auto& job : machine_.recurring().list(everything)) {
            Value::Array record{detail::encode_settings(job.settings),
                                job.paused ? 1 : 0,
                                wire(job.next_at),
                                wire(job.settled_until),
                                job.last_at ? Value{wire(*job.last_at)} : Value{false},
                                job.runs,
                                job.kept,
                                job.revision.text()};
            keys_.hash("routemaster:recurring", job.name, encode(Value{std::move(record)}));
            if (job.paused) continue;
            keys_.set("routemaster:recurring:due",
                      job.name + "@" + std::to_string(wire(job.next_at)));
        }
    }

    /// The payloads must be maps without reserved names of events.
    void add_timers() {
        machine_.timers().each([&](const detail::StoredTimer& timer) {
            const auto begin = timer.space.name + ":";
            const std::string id{timer.id()};
            std::string event;
            append_json(event, decode_value(timer.payload()).value());
            event.pop_back();
            event += (event == "{" ? "" : ",") + std::string{R"("id":")"} + id +
                     R"(","maxRetries":)" + std::to_string(timer.retries_max());
            if (timer.state != TimerState::pending || timer.retries() > 0) {
                event += R"(,"_numRetries":)" + std::to_string(timer.retries());
            }
            const bool dead = timer.state == TimerState::dead;
            keys_.hash(begin + (dead ? "routemaster:dead_events" : "ed"), id, event + "}");
            if (const auto why = timer.space.reason_of(timer); !why.empty()) {
                keys_.hash(begin + "routemaster:dead_events", '\0' + id, std::string{why});
            }
            const auto* place = dead                               ? "routemaster:dead"
                                : timer.state == TimerState::fired ? "et"
                                                                   : "ei";
            keys_.set(begin + place, id + "@" + text(timer.at));
            if (timer.retries_max() > 0 && timer.confirm_within() > Duration{0}) {
                keys_.hash(begin + "routemaster:confirm", id,
                           std::to_string(timer.confirm_within().count()));
            }
        });
    }

    void add_job_batches(bool ended) {
        for (const auto& batch :
             machine_.jobs().batches().list({.ended = ended, .limit = 1'000'000}).batches) {
            const auto id = std::to_string(batch.id);
            const auto key = "routemaster:job_batch:" + id;
            keys_.hash(key, "name", batch.settings.name);
            keys_.hash("routemaster:job_batch_names", batch.settings.name, id);
            keys_.set(ended ? "routemaster:job_batches:ended" : "routemaster:job_batches",
                      id + "@" + id);
            keys_.hash(key, "created_at", text(batch.created_at));
            const auto add_time = [&](const char* field, std::optional<TimePoint> at) {
                if (at) keys_.hash(key, field, text(*at));
            };
            add_time("closed_at", batch.closed_at);
            add_time("ended_at", batch.ended_at);
            add_time("succeeded_at", batch.succeeded_at);
            if (ended) {
                keys_.set("routemaster:job_batches:ends", id + "@" + text(*batch.ended_at));
            }
            const auto add_text = [&](const char* field, const std::string& text) {
                if (!text.empty()) keys_.hash(key, field, text);
            };
            add_text("on_success", detail::encode_callback(batch.settings.on_success));
            add_text("on_end", detail::encode_callback(batch.settings.on_end));
            const auto add_number = [&](const char* field, std::uint64_t number) {
                if (number > 0) keys_.hash(key, field, std::to_string(number));
            };
            add_number("success_job", batch.success_job);
            add_number("end_job", batch.end_job);
            add_number("total", batch.progress.total);
            add_number("succeeded", batch.progress.succeeded);
            add_number("buried", batch.progress.buried);
            add_number("cancelled", batch.progress.cancelled);
            add_number("expired", batch.progress.expired);
            add_number("forgotten", batch.progress.forgotten);
        }
    }

    void add_topics() {
        for (const auto& topic : machine_.registry().topics(everything)) {
            keys_.set("topics", topic.name);
            const auto key = "topic:" + topic.name;
            if (topic.publisher) {
                keys_.hash(key, "publisher", *topic.publisher);
                keys_.hash("routemaster:claims", *topic.publisher,
                           std::to_string(machine_.registry().claims(*topic.publisher)));
            }
            if (topic.events > 0) keys_.hash(key, "counter", std::to_string(topic.events));
        }
    }

    void add_subscribers() {
        for (const auto& status : machine_.registry().subscribers(everything)) {
            const auto& wants = status.subscription;
            const auto key = "subscriber:" + wants.token;
            keys_.set("subscribers", wants.token);
            keys_.hash(key, "callback", wants.callback);
            keys_.hash(key, "uuid", wants.uuid);
            keys_.hash(key, "timeout", std::to_string(wants.timeout.count()));
            keys_.hash(key, "max_events", std::to_string(wants.max_events));
            keys_.hash(key, "max_in_flight", std::to_string(wants.max_in_flight));
            keys_.hash(key, "attempts_max", std::to_string(wants.attempts_max));
            keys_.hash(key, "age_max", std::to_string(wants.age_max.count()));
            keys_.hash(key, "dead_max", std::to_string(wants.dead_max));
            // Absent means 100.
            if (status.health_points != 100) {
                keys_.hash(key, "health_points", std::to_string(status.health_points));
            }
            if (status.last_attempted_at) {
                keys_.hash(key, "last_attempted_at", text(*status.last_attempted_at));
            }
            for (const auto& topic : status.topics) {
                keys_.set("topics:" + wants.token, topic);
                keys_.set("subscribers:" + topic, wants.token);
            }
        }
    }

    void add_batches(const std::string& token) {
        const auto* subscriber_queue = machine_.subscriber_queues().find(token);
        if (subscriber_queue == nullptr) return;
        std::uint64_t batches = 0;
        std::uint64_t events = 0;
        for (const auto* batch = subscriber_queue->batches.front(); batch != nullptr;
             batch = subscriber_queue->batches.next(*batch)) {
            const std::string uid{batch->uid.text()};
            const auto key = "batches:" + uid;
            keys_.list(key, token);
            keys_.list(key, text(batch->created_at));
            keys_.list(key, std::to_string(batch->attempts));
            for (const auto message : batch->messages.list()) keys_.list(key, std::string{message});
            if (batch->last_error != nullptr) {
                keys_.list("routemaster:batch_error:" + uid, *batch->last_error);
            }
            if (batch->current) keys_.set("batches:current:" + token, uid);
            keys_.set("batches:index", uid + "@" + text(batch->created_at));
            keys_.list("routemaster:group:" + token, uid);
            ++batches;
            events += batch->messages.size();
        }
        add_dead(*subscriber_queue);
        if (batches > 0) keys_.hash("batches:gauges:batch", token, std::to_string(batches));
        if (events > 0) keys_.hash("batches:gauges:event", token, std::to_string(events));
    }

    void add_dead(const detail::SubscriberQueue& subscriber_queue) {
        for (const auto* batch = subscriber_queue.dead.front(); batch != nullptr;
             batch = subscriber_queue.dead.next(*batch)) {
            const std::string uid{batch->uid.text()};
            const auto key = "routemaster:dead_batch:" + uid;
            keys_.list(key, batch->death->error);
            keys_.list(key, subscriber_queue.group.name);
            keys_.list(key, text(batch->created_at));
            keys_.list(key, std::to_string(batch->attempts));
            for (const auto message : batch->messages.list()) keys_.list(key, std::string{message});
            const auto entry = uid + "@" + text(batch->death->at);
            keys_.set("routemaster:dead", entry);
            keys_.set("routemaster:dead:" + subscriber_queue.group.name, entry);
        }
    }

    void add_jobs(const std::string& name) {
        using State = detail::JobState::State;
        auto& queue = machine_.jobs().queues().open(name);
        queue.jobs.each([&](const detail::JobState& job) {
            const auto own = name_of(job);
            keys_.set("jobs:index:" + name, own);
            if (job.state == State::scheduled) {
                const auto at = job.waiting ? std::to_string(wire(never)) : text(job.run_at);
                keys_.set("jobs:scheduled:" + name, own + "@" + at);
            } else if (job.state == State::ready && !job.eligible && !queue.has_ids) {
                keys_.set("routemaster:blocked:" + name, own);
            }
            if (queue.has_ids && job.in_order) add_held(name, job);
            if (queue.has_ids) add_record(name, job);
            const bool waits = job.state == State::ready && (!job.eligible || job.throttled);
            if (job.throttled) add_throttled(name, job);
            if (job.priority() != 0 && !waits) add_rank(name, job);
        });
        queue.groups.each([&](const detail::OrderingGroup& group) { add_order(name, group); });
        // The newest job is at the left.
        add_ready("jobs:instant:" + name, queue.ready);
        if (queue.has_ids) add_due("routemaster:due:" + name, queue.ready);
        add_called("", queue.abandoned);
        for (const auto& [called, callback] : queue.callbacks) add_called(called, callback.ready);
    }

    /// Adds a waiting job of a group.
    void add_held(const std::string& queue, const detail::JobState& job) {
        using State = detail::JobState::State;
        const bool scheduled = job.state == State::scheduled;
        if (!scheduled && (job.state != State::ready || job.eligible)) return;
        keys_.set("routemaster:held:" + queue,
                  digits_of(job.order) + "@" + (scheduled ? "inf" : text(job.run_at)));
    }

    /// Adds a job with a group that has no token.
    void add_throttled(const std::string& queue, const detail::JobState& job) {
        const auto& grouped = static_cast<const detail::GroupedJob&>(job);
        keys_.set("routemaster:throttled:" + queue, grouped.group.name + std::string(1, '\0') +
                                                        digits_of(grouped.position) +
                                                        digits_of(job.order) + "@0");
    }

    void add_order(const std::string& queue, const detail::OrderingGroup& group) {
        for (const auto* job = group.jobs.front(); job != nullptr; job = group.jobs.next(*job)) {
            keys_.list("routemaster:order:" + queue + ":" + group.name,
                       digits_of(job->order) + ":" + std::to_string(job->concurrency));
        }
    }

    void add_rank(const std::string& queue, const detail::JobState& job) {
        using State = detail::JobState::State;
        const auto rank = job.state == State::ready
                              ? text(job.run_at - job.priority() * priority_step)
                              : std::string{"inf"};
        if (job.state == State::pending || job.state == State::buried) return;
        keys_.set("routemaster:ranks:" + queue, digits_of(job.order) + "@" + rank);
    }

    static std::string digits_of(std::uint64_t id) {
        const auto digits = std::to_string(id);
        return std::string(16 - digits.size(), '0') + digits;
    }

    /// The member for a job in lists and sets.
    static std::string name_of(const detail::JobState& job) {
        return job.has_key() ? "\xc1" + digits_of(job.order) : std::string{job.payload.text()};
    }

    void add_key(const std::string& queue, const detail::JobState& job) {
        const auto& key = job.details->options.key;
        keys_.hash("routemaster:keyed:" + queue, name_of(job),
                   encode(Value{Value::Array{std::string{job.payload.text()}, key.text,
                                             static_cast<int>(key.scope), wire(key.until)}}));
        const auto* owner = machine_.jobs().queues().open(queue).keys.find(
            detail::payload_hash(key.text),
            [&](const detail::JobState& any) { return any.details->options.key.text == key.text; });
        if (owner == &job) {
            keys_.hash("routemaster:keys:" + queue, key.text, std::to_string(job.order));
        }
    }

    void add_record(const std::string& queue, const detail::JobState& job) {
        const auto own = name_of(job);
        const auto id = std::to_string(job.order);
        keys_.set("routemaster:ids:" + queue, own + "@" + id);
        if (job.state == detail::JobState::State::buried) {
            keys_.set("routemaster:buried:" + queue, own + "@" + id);
            keys_.set("routemaster:burials:" + queue,
                      digits_of(job.order) + "@" + text(*job.details->buried_at));
        }
        static const detail::JobDetails none;
        const auto& details = job.details == nullptr ? none : *job.details;
        if (job.has_key()) add_key(queue, job);
        for (const auto awaited : details.after) {
            keys_.set(
                "routemaster:dependents:" + queue,
                digits_of(awaited) + ":" + digits_of(job.order) + "@" + std::to_string(awaited));
        }
        Value::Array record{
            job.attempts(),
            job.worker == nullptr ? std::string{} : std::string{job.worker->uid.text()},
            details.options.attempts_max,
            timeout_of(job.options(), after_of(job)),
            wire(details.options.expires_at),
            details.buried_at       ? wire(*details.buried_at)
            : details.cancelled     ? -2
            : job.worker != nullptr ? -wire(job.worker->times.of(job.fence))
                                    : -1};
        // Default values are not stored. The unique key is stored elsewhere.
        auto options = job.options();
        options.key = {};
        const bool plain = job.attempts() == 0 && job.worker == nullptr &&
                           options == JobOptions{} && !details.buried_at && !job.awaited &&
                           details.after.empty();
        if (plain && details.errors.empty()) return;
        if (details.failing_since) {
            for (const auto& part :
                 {Value{0}, Value{wire(*details.failing_since)}, Value{std::string{}}}) {
                record.push_back(part);
            }
        }
        for (const auto& error : details.errors) {
            record.emplace_back(error.attempt);
            record.emplace_back(wire(error.at));
            record.emplace_back(error.text);
        }
        keys_.hash("routemaster:job:" + queue, own, encode(Value{std::move(record)}));
    }

    /// Encodes dependencies: whether the job has dependents, its due time after the wait, and the
    /// ids of its dependencies.
    static Value::Array after_of(const detail::JobState& job) {
        if (!job.awaited && !job.waiting) return {};
        Value::Array after{job.awaited ? 1 : 0, job.waiting ? wire(job.run_at) : 0};
        if (job.waiting) {
            after.insert(after.end(), job.details->after.begin(), job.details->after.end());
        }
        return after;
    }

    static Value timeout_of(const JobOptions& options, const Value::Array& after) {
        const bool more = !after.empty();
        const bool further = !options.group.empty() || options.batch != 0;
        if (options.metadata.empty() && options.priority == 0 && !further && !more) {
            return options.timeout.count();
        }
        Value::Map metadata;
        for (const auto& [name, text] : options.metadata) metadata.emplace_back(name, Value{text});
        Value::Array parts{options.timeout.count(), std::string{}};
        if (!metadata.empty()) parts[1] = encode(Value{std::move(metadata)});
        if (options.priority != 0 || further || more) parts.emplace_back(options.priority);
        if (further || more) parts.emplace_back(std::string{});
        if (further) {
            Value::Map map;
            if (!options.group.empty()) map.emplace_back("group", Value{options.group});
            if (options.concurrency != 1) map.emplace_back("concurrency", options.concurrency);
            if (options.batch != 0) map.emplace_back("batch", options.batch);
            parts[3] = encode(Value{std::move(map)});
        }
        if (more) parts.emplace_back(Value::Map{{"after", Value{after}}});
        return parts;
    }

    static std::int64_t wire(TimePoint at) {
        return at == never ? 9'007'199'254'740'991 : to_milliseconds(at);
    }

    void add_ready(const std::string& key, const detail::ReadyJobs& ready) {
        for (const auto* job = ready.back(); job != nullptr; job = ready.previous(*job)) {
            keys_.list(key, name_of(*job));
        }
    }

    void add_due(const std::string& key, const detail::ReadyJobs& ready) {
        for (const auto* job = ready.back(); job != nullptr; job = ready.previous(*job)) {
            keys_.list(key, text(job->run_at));
        }
    }

    void add_called(const std::string& name, const detail::ReadyJobs& ready) {
        add_ready("routemaster:callback:" + name, ready);
        for (const auto* job = ready.front(); job != nullptr; job = ready.next(*job)) {
            keys_.set("routemaster:callbacks", std::string{job->payload.text()});
        }
    }

    void add_leases() {
        auto leases = machine_.jobs().leases().all();
        std::sort(leases.begin(), leases.end(),
                  [](const Lease& a, const Lease& b) { return a.fence > b.fence; });
        for (const auto& lease : leases) {
            const std::string worker{lease.worker.text()};
            const auto own = name_of(*machine_.jobs().leased(lease));
            keys_.list("jobs:pending:" + lease.queue + ":" + worker, own);
            keys_.hash("routemaster:leases:" + worker, std::to_string(lease.fence),
                       lease.queue + '\0' + own);
        }
        if (const auto fence = machine_.jobs().leases().fence(); fence > 0) {
            keys_.list("routemaster:fence", std::to_string(fence));
        }
    }

    detail::Machine& machine_;
    std::vector<std::string> tokens_;
    RedisKeys keys_;
};

}  // namespace routemaster::test
