/// @file
/// `Text`: formats values for failure messages.

#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/codec/json_text.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::testing {

/// Formatter of all arguments and replies of steps, for people.
class Text {
public:
    static std::string of(bool truth) { return truth ? "true" : "false"; }
    static std::string of(std::integral auto number) { return std::to_string(number); }
    static std::string of(const char* text) { return of(std::string_view{text}); }
    static std::string of(const std::string& text) { return of(std::string_view{text}); }
    static std::string of(std::string_view text) {
        constexpr std::string_view digits = "0123456789abcdef";
        constexpr std::size_t longest = 100;
        std::string out = "\"";
        for (const char c : text.substr(0, longest)) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte >= 0x20 && byte < 0x7f) {
                out += c;
            } else {
                out.append("\\x").append({digits[byte >> 4U], digits[byte & 15U]});
            }
        }
        return out + (text.size() > longest ? "...\"" : "\"");
    }

    static std::string of(Duration span) { return std::to_string(span.count()) + "ms"; }
    static std::string of(TimePoint at) {
        return at == never ? "never" : "@" + std::to_string(to_milliseconds(at));
    }
    static std::string of(const Uid& uid) { return std::string{uid.text()}; }
    static std::string of(const MessageList& messages) {
        return of(std::vector<std::string>{messages.begin(), messages.end()});
    }

    static std::string of(Done) { return "done"; }
    static std::string of(Count count) { return std::to_string(count.value); }
    static std::string of(const BuriedJob& job) { return job.queue + " " + of(job.id); }
    static std::string of(const ReleasedJobs& released) {
        return record({of(released.jobs), released.more ? "more" : "all", of(released.buried)});
    }
    static std::string of(Removal removal) { return word(removal, {"removed", "unknown"}); }
    static std::string of(Settlement settlement) {
        return word(settlement, {"settled", "lease_lost", "dead", "buried"});
    }
    static std::string of(Unsubscription outcome) {
        return word(outcome,
                    {"unsubscribed", "unknown_subscriber", "unknown_topic", "not_subscribed"});
    }
    static std::string of(PushOutcome outcome) {
        return word(outcome, {"pushed", "duplicate", "replaced"});
    }
    static std::string of(const Pushed& pushed) {
        return record({of(pushed.outcome), of(pushed.id)});
    }
    static std::string of(const Completed& c) {
        return record({of(c.settlement), of(c.pushed), of(c.posted)});
    }
    static std::string of(const CompletedTimer& c) {
        return record({of(c.confirmation), of(c.pushed), of(c.posted)});
    }
    static std::string of(Deletion outcome) {
        return word(outcome, {"deleted", "unknown", "pending"});
    }
    static std::string of(Cancellation outcome) {
        return word(outcome, {"cancelled", "unknown", "requested"});
    }
    static std::string of(JobStatus::State state) {
        return word(state, {"SCHEDULED", "READY", "PENDING", "BURIED"});
    }
    static std::string of(const JobOptions& o) {
        return record({of(o.attempts_max), of(o.priority), of(o.timeout), of(o.expires_at),
                       of(o.key), of(o.metadata), of(o.group), of(o.concurrency)});
    }
    static std::string of(const JobKey& key) {
        return record({of(key.text), word(key.scope, {"done", "started", "time"}), of(key.until)});
    }
    static std::string of(const JobError& e) {
        return record({of(e.attempt), of(e.at), of(e.text)});
    }
    static std::string of(const JobStatus& s) {
        return record({of(s.id), of(s.state), of(s.job), of(s.options), of(s.run_at),
                       of(s.attempts), of(s.errors), of(s.worker), of(s.cancelled), of(s.buried_at),
                       of(s.failing_since), "after " + of(s.after)});
    }
    static std::string of(const JobPage& page) {
        return record({of(page.jobs), "next " + of(page.next)});
    }
    static std::string of(Verdict verdict) {
        return word(verdict, {"deliver", "throttled", "vanished", "lease_lost"});
    }

    static std::string of(const Topic& topic) {
        return record({of(topic.name), of(topic.publisher), of(topic.events)});
    }
    static std::string of(const Subscription& s) {
        return record({of(s.token), of(s.callback), of(s.uuid), of(s.timeout), of(s.max_events),
                       of(s.max_in_flight), of(s.attempts_max), of(s.age_max), of(s.dead_max)});
    }
    static std::string of(const SubscriberStatus& s) {
        return record({of(s.subscription), of(s.topics), of(s.events_queued), of(s.batches_queued),
                       of(s.health_points), of(s.last_attempted_at), of(s.batches_dead)});
    }
    static std::string of(const BatchStatus& b) {
        return record({of(b.uid), of(b.subscriber), of(b.created_at), of(b.attempts), of(b.events),
                       b.current ? "CURRENT" : "READY"});
    }
    static std::string of(const QueuedBatch& b) {
        return record({of(b.status), of(b.delivery), of(b.run_at), of(b.error)});
    }
    static std::string of(BatchAction action) {
        return word(action, {"done", "unknown", "under_way"});
    }
    static std::string of(const DeadBatchStatus& b) {
        return record({of(b.uid), of(b.subscriber), of(b.created_at), of(b.died_at), of(b.attempts),
                       of(b.events), of(b.error)});
    }
    static std::string of(const DeadMessages& b) { return record({of(b.status), of(b.messages)}); }
    static std::string of(Dropped dropped) {
        return record({"batches " + of(dropped.batches), "events " + of(dropped.events)});
    }
    static std::string of(const ApiToken& token) {
        return record({of(token.token), of(token.name)});
    }
    static std::string of(const QueueStatus& s) {
        return record({"scheduled " + of(s.scheduled), "ready " + of(s.ready),
                       "pending " + of(s.pending), "buried " + of(s.buried),
                       s.paused ? "paused" : "not paused"});
    }
    static std::string of(const JobExplanation& e) {
        return record({of(e.status), of(e.queue), "before " + of(e.before), of(e.concurrency),
                       of(e.queue_limited_until), of(e.group_limited_until), of(e.leased_at),
                       of(e.heard_at), of(e.workers)});
    }
    static std::string of(const QueueWorkers& w) {
        return record({"workers " + of(w.workers), "handling " + of(w.handling),
                       "full " + of(w.full), of(w.capacity), of(w.busy_since),
                       "unprofiled " + of(w.unprofiled), "last " + of(w.last_at)});
    }
    static std::string of(const WorkerProfile& p) {
        return record({of(p.name), of(p.host), of(p.process), of(p.since), of(p.queues),
                       of(p.handlers), of(p.handlers_total),
                       word(p.others, {"refused", "handled", "unknown"}), of(p.capacity),
                       of(p.silence)});
    }
    static std::string of(const RateLimit& limit) {
        return record({of(limit.jobs), "per " + of(limit.per), "burst " + of(limit.burst)});
    }
    static std::string of(const RateLimits& limits) {
        return record({of(limits.queue), "each group " + of(limits.each_group)});
    }
    static std::string of(const ListedQueue& queue) {
        return record({of(queue.name), of(queue.status), of(queue.due_since), of(queue.limits),
                       of(queue.workers), of(queue.unprofiled), of(queue.worker_at)});
    }
    static std::string of(const LeasedByWorker& job) {
        return record({of(job.queue), of(job.id), of(job.job), of(job.attempt), of(job.since),
                       of(job.cancelled)});
    }
    static std::string of(const ListedWorker& worker) {
        return record({of(worker.id), of(worker.seen), of(worker.leased), of(worker.jobs),
                       of(worker.profile), of(worker.busy)});
    }
    static std::string of(const Lease& lease) {
        return record({of(lease.queue), of(lease.job), of(lease.worker), of(lease.fence),
                       of(lease.id), of(lease.attempt), of(lease.options->timeout),
                       of(lease.options->metadata)});
    }
    static std::string of(RecurringRun::Outcome outcome) {
        return word(outcome, {"pushed", "kept", "moved", "stale"});
    }
    static std::string of(const RecurringRun& run) { return record({of(run.outcome), of(run.id)}); }
    static std::string of(const RecurringTimer& t) {
        return record({of(t.space), of(t.payload), of(t.retries_max), of(t.confirm_within)});
    }
    static std::string of(const RecurringJob& r) {
        return record({of(r.name), of(r.settings.schedule), of(r.settings.time_zone),
                       of(r.settings.queue), of(r.settings.job), of(r.settings.timer),
                       r.paused ? "paused" : "not paused", "next " + of(r.next_at),
                       "settled " + of(r.settled_until), of(r.last_at), of(r.runs), of(r.kept),
                       of(r.revision)});
    }
    static std::string of(TimerPosted outcome) {
        return word(outcome, {"posted", "replaced", "kept"});
    }
    static std::string of(TimerConfirmed outcome) {
        return word(outcome, {"confirmed", "unknown"});
    }
    static std::string of(TimerState state) { return word(state, {"PENDING", "FIRED", "DEAD"}); }
    static std::string of(const TimerStatus& t) {
        std::string payload;
        append_json(payload, t.payload);
        return record({of(t.id), payload, of(t.state), of(t.at), of(t.retries),
                       "of " + of(t.retries_max), of(t.reason)});
    }
    static std::string of(const FiredTimer& t) {
        return record({of(t.id), of(t.payload), "due " + of(t.due_at), of(t.retries),
                       "of " + of(t.retries_max), "confirm by " + of(t.confirm_by)});
    }
    static std::string of(const TakenTimers& taken) {
        return record({of(taken.timers), "wake " + of(taken.wake_at)});
    }
    static std::string of(const TimerCounts& c) {
        return record({"pending " + of(c.pending), "fired " + of(c.fired), "dead " + of(c.dead),
                       "listeners " + of(c.listeners), "next " + of(c.next_due)});
    }
    static std::string of(const QueueCountsAt& at) {
        const auto& c = at.counts;
        return record({of(at.from), "done " + of(c.done), "failed " + of(c.failed),
                       "buried " + of(c.buried), "expired " + of(c.expired)});
    }
    static std::string of(const QueueThroughput& t) { return record({of(t.minutes), of(t.hours)}); }
    static std::string of(const JobBatchCallback& c) {
        return record({of(c.queue), of(c.job), of(c.attempts_max), of(c.priority), of(c.timeout),
                       of(c.metadata)});
    }
    static std::string of(const JobBatchProgress& p) {
        return record({"total " + of(p.total), "succeeded " + of(p.succeeded),
                       "buried " + of(p.buried), "cancelled " + of(p.cancelled),
                       "expired " + of(p.expired), "forgotten " + of(p.forgotten)});
    }
    static std::string of(const JobBatch& b) {
        return record({of(b.id), of(b.settings.name), of(b.progress), of(b.created_at),
                       "closed " + of(b.closed_at), "ended " + of(b.ended_at),
                       "succeeded " + of(b.succeeded_at), of(b.end_job), of(b.success_job)});
    }
    static std::string of(const JobBatchPage& page) {
        return record({of(page.batches), of(page.next)});
    }
    static std::string of(const JobBatchCreated& c) {
        return record({of(c.id), c.created ? "created" : "there already"});
    }
    static std::string of(JobBatchClosure closure) { return word(closure, {"closed", "unknown"}); }
    static std::string of(const CounterKey& key) { return record({of(key.name), of(key.tags)}); }
    static std::string of(const Counter& counter) {
        return of(counter.key) + "=" + of(counter.value);
    }

    template <class T>
    static std::string of(const std::optional<T>& maybe) {
        return maybe ? of(*maybe) : "nothing";
    }
    template <class A, class B>
    static std::string of(const std::pair<A, B>& both) {
        return of(both.first) + ": " + of(both.second);
    }
    template <class T>
    static std::string of(const std::vector<T>& list) {
        return "[" + joined(list) + "]";
    }
    template <class K, class V>
    static std::string of(const std::map<K, V>& map) {
        return "{" + joined(map) + "}";
    }

private:
    template <class Enum>
    static std::string word(Enum value, const std::vector<std::string>& words) {
        return words.at(static_cast<std::size_t>(value));
    }

    static std::string record(const std::vector<std::string>& fields) {
        std::string out;
        for (const auto& field : fields) out.append(out.empty() ? "" : " ").append(field);
        return "{" + out + "}";
    }

    static std::string joined(const auto& range) {
        std::string out;
        for (const auto& item : range) out.append(out.empty() ? "" : ", ").append(of(item));
        return out;
    }
};

}  // namespace routemaster::testing
