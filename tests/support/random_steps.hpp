/// @file
/// `RandomSteps`: random steps of all types, for a bus with a few topics, subscribers and workers.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::test {

/// Draws steps. Pass the replies of `AcquireJobs` to `got`, to make leases available for settling.
class RandomSteps {
public:
    /// Subscribers have up to `in_flight_max` deliveries under way. All durations are multiples of
    /// `unit`.
    RandomSteps(std::uint64_t seed, std::uint32_t in_flight_max, Duration unit = Duration{1})
        : random_{seed}, in_flight_max_{in_flight_max}, unit_{unit} {}

    /// The workers in the steps.
    static std::array<Uid, 2> workers() { return {Uid{1ULL << 60U, 0}, Uid{2ULL << 60U, 0}}; }
    inline static const std::vector<std::string> tokens{"audit", "billing", "mail"};
    /// All destinations of the subscribers.
    static std::vector<std::string> everywhere() {
        return {destinations_.begin(), destinations_.end()};
    }

    Step next(TimePoint now) {
        if (random_.below(8) == 0) return about_timers(now);
        const auto what = random_.below(100);
        if (what < 35) return publish(now);
        if (what < 43) return subscribe();
        if (what < 55) return push(now);
        if (what < 67) return acquire();
        if (what < 68) return rare(now);
        if (what < 71) return about_jobs();
        if (what < 72) return about_the_dead();
        if (what < 90 && !leases_.empty()) return use_lease(now);
        if (what < 92) return PutToken{any_token(), "someone"};
        if (what < 94) return RemoveToken{any_token()};
        if (what < 95) return RemoveTopic{any_topic(), {}};
        if (what < 96) return RemoveSubscriber{any_token()};
        if (what < 97) return Unsubscribe{any_token(), any_topic()};
        if (what < 98) return ScrubWorkers{200 * unit_};
        return AddToCounters{{{{"process", {{"status", "start"}}}, 1}}};
    }

    /// Remembers acquired leases.
    void got(const std::vector<Lease>& leases) {
        leases_.insert(leases_.end(), leases.begin(), leases.end());
        for (const auto& lease : leases) jobs_ = std::max(jobs_, lease.id);
    }

    /// Remembers a listed DEAD batch.
    void got(const std::vector<DeadBatchStatus>& dead) {
        if (!dead.empty()) dead_ = dead[random_.below(dead.size())];
    }

    /// Remembers a listed queued batch.
    void got(const std::vector<QueuedBatch>& queued) {
        if (!queued.empty()) queued_ = queued[random_.below(queued.size())].status;
    }

    /// Remembers a batch of jobs.
    void got(const JobBatchCreated& created) { batch_ = created.id; }

    /// Remembers a due recurring job.
    void got(const DueRecurring& due) {
        if (!due.jobs.empty()) due_ = due.jobs[random_.below(due.jobs.size())];
    }

    /// The time until the next step.
    Duration pause() { return random_.below(20) * unit_; }

private:
    /// Some jobs have options.
    Step push(TimePoint now) {
        PushJob step{"work", job(), now + delay()};
        if (random_.below(4) == 0) add_after(step);
        if (random_.below(2) == 0) return step;
        step.options.attempts_max = static_cast<std::uint32_t>(random_.below(4));
        step.options.timeout = random_.below(2) * unit_;
        if (random_.below(4) == 0) step.options.expires_at = step.run_at + delay();
        if (random_.below(2) == 0) add_key(step, now);
        if (!step.after.empty()) step.on_duplicate = OnDuplicate::keep;
        if (random_.below(4) == 0) step.options.metadata = {{"trace", job()}};
        // A level of priority is worth some seconds of steps: priorities change the order.
        if (random_.below(2) == 0) {
            step.options.priority = static_cast<std::int32_t>(random_.below(5)) - 2;
        }
        if (random_.below(4) == 0) step.options.batch = any_batch();
        if (random_.below(3) == 0) {
            step.options.group = "group " + std::to_string(random_.below(4));
            step.options.concurrency = static_cast<std::uint32_t>(1 + random_.below(3));
        }
        return step;
    }

    /// Mostly existing jobs, sometimes an unused id.
    void add_after(PushJob& step) {
        for (auto left = random_.below(4); left > 0; --left) step.after.push_back(any_id());
    }

    void add_key(PushJob& step, TimePoint now) {
        auto& key = step.options.key;
        key.text = "key " + std::to_string(random_.below(30));
        key.scope = static_cast<KeyScope>(random_.below(3));
        if (key.scope == KeyScope::for_time) key.until = now + 10 * delay();
        step.on_duplicate = static_cast<OnDuplicate>(random_.below(3));
    }

    /// Draws pages and ids. Most of the ids exist.
    Step about_jobs() {
        const auto id = any_id();
        switch (random_.below(10)) {
            case 8:
            case 9: return about_batches();
            case 0: return FindJob{"work", id};
            case 5: return ExplainJob{"work", id};
            case 1: return KickJobs{.queue = "work", .limit = limit()};
            case 2: return KickJobs{.queue = "work", .id = id};
            case 3: return DeleteJob{"work", id};
            case 4: return CancelJob{"work", id};
            default:
                return ListJobs{.queue = "work",
                                .state = static_cast<JobStatus::State>(random_.below(4)),
                                .after = random_.below(2) * id,
                                .limit = limit()};
        }
    }

    Step rare(TimePoint now) {
        switch (random_.below(20)) {
            case 16:
            case 17:
            case 18:
            case 19: return about_batches();
            case 11:
            case 12: return DeliverBatch{queued_.subscriber, queued_.uid};
            case 13: return DropBatch{queued_.subscriber, queued_.uid};
            case 14: return FindBatch{queued_.subscriber, queued_.uid};
            case 15: return ListBatches{.token = any_token(), .limit = limit()};
            case 0: return RetireWorker{any_worker()};
            case 1: return heartbeat(now);
            case 2: return DropOldestBatches{1};
            case 3: return ListBatches{.token = any_token(), .limit = limit()};
            case 4: return FindSubscriber{any_token()};
            case 5: return PauseQueue{"work", random_.below(4) == 0};
            case 6: return ListQueues{{.after = {}, .limit = limit()}};
            case 7: return ListWorkers{};
            case 8:
                return random_.below(2) == 0 ? Step{CountJobs{any_queue()}}
                                             : Step{MeasureThroughput{"work"}};
            case 9: return limit_work();
            default: return about_recurring(now);
        }
    }

    /// Half of the heartbeats have a profile.
    Heartbeat heartbeat(TimePoint now) {
        Heartbeat beat{any_worker()};
        if (random_.below(2) == 0) return beat;
        WorkerProfile profile{.since = now, .capacity = 2, .silence = 20 * unit_};
        profile.queues.push_back(any_queue());
        profile.list_handlers({"resize"});
        profile.others = static_cast<WorkerProfile::Others>(random_.below(3));
        beat.profile = std::make_shared<const WorkerProfile>(std::move(profile));
        beat.busy = static_cast<std::uint32_t>(random_.below(3));
        if (beat.busy > 0) beat.busy_since = now;
        return beat;
    }

    /// Limits that allow most jobs to begin in time.
    Step limit_work() {
        const auto some = [this]() -> std::optional<RateLimit> {
            if (random_.below(3) == 0) return std::nullopt;
            return RateLimit{.jobs = static_cast<std::uint32_t>(1 + random_.below(7)),
                             .per = (1 + random_.below(40)) * unit_,
                             .burst = static_cast<std::uint32_t>(random_.below(4))};
        };
        if (random_.below(3) == 0) return LimitQueue{"work", {}};
        return LimitQueue{"work", {.queue = some(), .each_group = some()}};
    }

    Step about_batches() {
        switch (random_.below(8)) {
            case 0:
            case 1:
            case 2: return CreateJobBatch{batch_settings()};
            case 3:
            case 4: return CloseJobBatch{any_batch()};
            case 5: return FindJobBatch{any_batch()};
            case 6:
                return ListJobBatches{.ended = random_.below(2) == 0,
                                      .after = random_.below(2) * any_batch(),
                                      .limit = limit()};
            default:
                return random_.below(4) > 0 ? Step{CloseJobBatch{any_batch()}}
                                            : Step{RemoveJobBatch{any_batch()}};
        }
    }

    std::shared_ptr<const JobBatchSettings> batch_settings() {
        JobBatchSettings settings{.name = "batch " + std::to_string(random_.below(2'000))};
        if (random_.below(4) > 0) settings.on_success = batch_callback();
        if (random_.below(4) > 0) settings.on_end = batch_callback();
        return std::make_shared<const JobBatchSettings>(std::move(settings));
    }

    JobBatchCallback batch_callback() {
        JobBatchCallback callback{.queue = "work", .job = job()};
        callback.attempts_max = static_cast<std::uint32_t>(random_.below(4));
        if (random_.below(2) == 0) callback.metadata = {{"a", job()}, {"trace", job()}};
        if (random_.below(4) == 0) callback.priority = 1;
        return callback;
    }

    Step about_recurring(TimePoint now) {
        const std::string name = random_.below(2) == 0 ? "hourly" : "daily";
        switch (random_.below(8)) {
            case 0:
            case 1: return PutRecurringJob{name, recurring_settings(), any_uid()};
            case 2: return RemoveRecurringJob{name};
            case 3: return PauseRecurringJob{name, random_.below(2) == 0};
            case 4: return FindRecurringJob{name};
            case 5: return ListRecurringJobs{{.after = {}, .limit = limit()}};
            case 6: return DueRecurringJobs{limit()};
            default: return run_recurring(now);
        }
    }

    Step run_recurring(TimePoint now) {
        const auto job = due_.value_or(RecurringJob{.name = "hourly"});
        RunRecurringJob step{.name = job.name,
                             .revision = job.revision,
                             .at = job.next_at,
                             .until = now,
                             .next = now + delay() + unit_};
        if (!due_ || random_.below(4) == 0) return step;
        if (job.settings.timer) {
            step.post = std::make_shared<const PostTimer>(post_of(job.name, job.settings, now));
        } else {
            step.push = std::make_shared<const PushJob>(push_of(job.name, job.settings, now, now));
        }
        return step;
    }

    std::shared_ptr<const RecurringSettings> recurring_settings() {
        RecurringSettings settings{.schedule = random_.below(2) == 0 ? "@hourly" : "@daily"};
        settings.overlap = random_.below(2) == 0;
        if (random_.below(3) == 0) {
            const auto some = post({});
            settings.timer = RecurringTimer{.space = some.space,
                                            .payload = some.payload,
                                            .retries_max = some.retries_max,
                                            .confirm_within = some.confirm_within};
            return std::make_shared<const RecurringSettings>(std::move(settings));
        }
        settings.queue = "work";
        settings.job = job();
        settings.expires = random_.below(2) * delay();
        return std::make_shared<const RecurringSettings>(std::move(settings));
    }

    PostTimer post(TimePoint now) {
        PostTimer post{.space = "reminders",
                       .id = timer(),
                       .payload = encode(Value{Value::Map{{"n", random_.below(9)}}}),
                       .due_at = now + delay(),
                       .retries_max = static_cast<std::uint32_t>(random_.below(3)),
                       .confirm_within = random_.below(2) * delay(),
                       .keep = random_.below(4) == 0};
        if (post.retries_max == 0) post.confirm_within = Duration{0};
        return post;
    }

    /// Uses a single listener. With several, the reply would depend on turns, which a restart
    /// forgets.
    Step about_timers(TimePoint now) {
        const std::string space = "reminders";
        const auto retries = static_cast<std::uint32_t>(random_.below(3));
        switch (random_.below(20)) {
            default: return post(now);
            case 1:
            case 2:
            case 3:
            case 4:
                return TakeTimers{.space = space,
                                  .listener = "ear",
                                  .limit = limit() - 1,
                                  .confirm_within = delay() + unit_};
            case 5: return ConfirmTimer{space, timer()};
            case 6: return ConfirmTimer{space, timer(), retries};
            case 17:
            case 18:
                return follow(CompleteTimer{.space = space, .id = timer(), .retries = retries},
                              now);
            case 7: return CancelTimer{space, timer()};
            case 8: return PostponeTimer{space, timer(), now + delay()};
            case 9: return RepostDeadTimers{space, timer(), now + delay()};
            case 10: return RepostDeadTimers{space, {}, now + delay()};
            case 11: return DropDeadTimers{space, timer()};
            case 12: return DropDeadTimers{space};
            case 13: return FindTimer{space, timer()};
            case 14: return CountTimers{space};
            case 15: return LeaveTimers{space, "ear"};
            case 19:
                return GiveUpTimer{.space = space,
                                   .id = timer(),
                                   .retries = retries,
                                   .reason = random_.below(2) == 0 ? "" : "refused"};
            case 16:
                return ListTimers{.space = space,
                                  .state = static_cast<TimerState>(random_.below(3)),
                                  .from = now - delay(),
                                  .after = random_.below(2) == 0 ? "" : timer(),
                                  .until = now + delay(),
                                  .limit = limit()};
        }
    }

    /// Never redelivers all batches of a subscriber: stores may order batches of equal age
    /// differently.
    Step about_the_dead() {
        switch (random_.below(6)) {
            case 0: return DropDeadBatches{any_token()};
            case 1: return DropDeadBatches{dead_.subscriber, dead_.uid};
            case 2: return FindDeadBatch{dead_.subscriber, dead_.uid};
            case 3: return RedeliverDeadBatches{dead_.subscriber, dead_.uid};
            default: return ListDeadBatches{.token = any_token(), .limit = limit()};
        }
    }

    /// Most workers can reach all destinations. Otherwise too few jobs would be done.
    Step acquire() {
        AcquireJobs step{any_queue(), any_worker(), limit()};
        if (random_.below(8) == 0) step.newest = random_.below(100);
        step.explain = random_.below(4) == 0;
        const auto first = random_.below(4);
        if (first == 3) return step;
        step.destinations.emplace();
        for (std::uint64_t n = 0; n < 3; ++n) {
            if (random_.below(4) > 0) {
                step.destinations->emplace_back(destinations_[(first + n) % 3]);
            }
        }
        return step;
    }

    Step publish(TimePoint now) {
        return PublishEvent{.topic = any_topic(),
                            .publisher = {},
                            .message = "message " + std::to_string(++messages_),
                            .timestamp = now - random_.below(50) * unit_,
                            .uid = Uid{random_.next(), random_.next()}};
    }

    Step subscribe() {
        std::vector<std::string> topics;
        for (const auto* topic : topics_) {
            if (random_.below(2) == 0) topics.emplace_back(topic);
        }
        const auto up_to = [&](std::uint32_t most) {
            return static_cast<std::uint32_t>(1 + random_.below(most));
        };
        return Subscribe{any_token(),
                         topics,
                         {.callback = callback(),
                          .uuid = "x",
                          .timeout = random_.below(200) * unit_,
                          .max_events = up_to(5),
                          .max_in_flight = up_to(in_flight_max_),
                          .attempts_max = static_cast<std::uint32_t>(random_.below(3)),
                          .age_max = random_.below(3) * 400 * unit_,
                          .dead_max = up_to(4)}};
    }

    Step use_lease(TimePoint now) {
        const auto place = static_cast<std::ptrdiff_t>(random_.below(leases_.size()));
        const auto lease = leases_[static_cast<std::size_t>(place)];
        if (lease.queue == delivery_queue && random_.below(3) == 0) {
            return BeginDelivery{lease, 256 * unit_, 0.25};
        }
        leases_.erase(leases_.begin() + place);
        if (lease.queue == delivery_queue) {
            const bool delivered = random_.below(3) != 0;
            return SettleDelivery{.lease = lease,
                                  .delivered = delivered,
                                  .health_change = delivered ? 1 : -2,
                                  .begun_at = now - 3 * unit_,
                                  .retry_at = now + delay(),
                                  .permanent = random_.below(4) == 0,
                                  .error = "failure " + std::to_string(random_.below(100))};
        }
        switch (random_.below(8)) {
            case 0: return NackJob{lease, now + delay()};
            case 1: return ReleaseJob{lease, now + delay()};
            case 2:
            case 3:
                return FailJob{.lease = lease,
                               .error = "failure " + std::to_string(random_.below(100)),
                               .run_at = now + delay(),
                               .bury = random_.below(2) == 0,
                               .time_max = random_.below(2) * 400 * unit_};
            case 4: return complete(lease, now);
            default: return AckJob{lease};
        }
    }

    /// Completes a job, with up to five follow-ups. Stores may order jobs with equal due times
    /// differently. Therefore the due times of follow-ups increase, and batches begin in the order
    /// of their ids.
    Step complete(const Lease& lease, TimePoint now) { return follow(CompleteJob{lease}, now); }

    /// As `complete`, also for a step that confirms a timer.
    template <class S>
    Step follow(S step, TimePoint now) {
        auto due = now;
        for (auto left = random_.below(6); left > 0; --left) {
            auto one = push(due + unit_);
            due = step.pushes.emplace_back(std::get<PushJob>(std::move(one))).run_at;
            step.pushes.back().after.clear();
        }
        std::vector<Uid> ids(random_.below(6));
        for (auto& id : ids) id = Uid{random_.next(), random_.next()};
        std::sort(ids.begin(), ids.end(),
                  [](const Uid& a, const Uid& b) { return a.text() < b.text(); });
        for (const auto& id : ids) {
            auto one = publish(now);
            step.publications.emplace_back(std::get<PublishEvent>(std::move(one))).uid = id;
        }
        for (auto left = random_.below(3); left > 0; --left) step.timers.push_back(post(now));
        return step;
    }

    std::string callback() {
        const auto which = random_.below(8);
        if (which < 4) return std::string{"local:"} + destinations_[1 + which % 2];
        return "https://example.com/" + std::to_string(which);
    }
    /// One of the newest batches, or an unused id.
    JobBatchId any_batch() { return batch_ + 1 - std::min(batch_, random_.below(6)); }
    JobId any_id() { return jobs_ + 3 - std::min(jobs_ + 2, random_.below(60)); }
    std::string job() { return "job " + std::to_string(random_.below(200)); }
    std::string timer() { return "timer " + std::to_string(random_.below(20)); }
    Duration delay() { return random_.below(100) * unit_; }
    std::uint32_t limit() { return static_cast<std::uint32_t>(1 + random_.below(4)); }
    Uid any_uid() { return {random_.next(), random_.next()}; }
    Uid any_worker() { return workers()[random_.below(2)]; }
    std::string any_queue() { return random_.below(3) == 0 ? "work" : delivery_queue; }
    std::string any_topic() { return topics_[random_.below(topics_.size())]; }
    std::string any_token() { return tokens[random_.below(tokens.size())]; }

    static DeadBatchStatus unlisted() {
        DeadBatchStatus batch;
        batch.subscriber = "billing";
        return batch;
    }

    static constexpr std::array<const char*, 3> topics_{"cats", "dogs", "fish"};
    static constexpr std::array<const char*, 3> destinations_{"", "here", "there"};

    Random random_;
    std::uint32_t in_flight_max_;
    Duration unit_;
    std::vector<Lease> leases_;
    DeadBatchStatus dead_ = unlisted();  // A listed DEAD batch.
    BatchStatus queued_{};               // A listed queued batch.
    std::uint64_t messages_ = 0;
    JobId jobs_ = 0;        // The greatest id of all leases.
    JobBatchId batch_ = 0;  // The id of the last `JobBatchCreated`.
    std::optional<RecurringJob> due_;
};

}  // namespace routemaster::test
