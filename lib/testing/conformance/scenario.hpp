/// @file
/// `Scenario`: helpers for conformance cases.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expect.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/store_conformance.hpp"
#include "snapshot.hpp"

namespace routemaster::testing {

inline constexpr const char* work_queue = "work";

inline constexpr const char* shop = "shop--key";

/// The longest backoff of deliveries. It is short, because a case must not last for an hour.
inline constexpr Duration backoff_max{60'000};
inline constexpr Duration one_second{1'000};

struct Publication {
    std::optional<std::string> publisher{shop};
    std::optional<TimePoint> timestamp{};  ///< Absent: the present time.
};

struct SubscriberSettings {
    std::string callback{};  ///< Empty: a URL derived from the token.
    std::string uuid{};
    std::optional<Duration> timeout{};
    std::optional<std::uint32_t> max_events{};
    std::optional<std::uint32_t> max_in_flight{};
    std::optional<std::uint32_t> attempts_max{};
    std::optional<Duration> age_max{};
    std::optional<std::uint32_t> dead_max{};
};

struct Taking {
    unsigned worker = 1;
    std::uint32_t limit = 100;
    std::string queue{delivery_queue};
};

struct Attempt {
    bool delivered = true;
    int health_change = 0;
    Duration retry_after{1'000};  ///< Only for a failure.
    Duration took{0};
    bool permanent = false;  ///< Only for a failure.
    std::string error{};     ///< Only for a failure.
};

using Batches = std::vector<std::vector<std::string>>;

/// A store and a manual clock, with helpers that perform steps. A helper fails the case when the
/// store rejects a step that must succeed.
///
/// Thread safety: `perform` and `worker` may be called from any thread while no thread calls
/// `advance`; the other members from one thread.
class Scenario {
public:
    /// `store` must be empty. Both arguments must outlive this object.
    Scenario(Store& store, const StoreTraits& traits) : store_{store}, traits_{traits} {}

    [[nodiscard]] Store& store() const noexcept { return store_; }
    [[nodiscard]] const StoreTraits& traits() const noexcept { return traits_; }
    [[nodiscard]] TimePoint now() const noexcept { return now_; }

    /// Advances the clock. A negative span sets the clock back.
    void advance(Duration span) { now_ += span; }

    /// Performs a step at the present time. The step must succeed.
    template <class S>
    typename S::Reply perform(S step, Where at = Where::here()) const {
        auto reply = routemaster::perform(store_, std::move(step), now_);
        if (!reply) fail("the step failed: " + reply.error().message(), at);
        return *std::move(reply);
    }

    /// Expects that the store rejects a step as `invalid` and changes nothing. The error must begin
    /// with the name of the field.
    template <class S>
    void expect_refused(S step, std::string_view field, Where at = Where::here()) {
        expect_error(Errc::invalid, std::move(step), field, at);
    }

    template <class S>
    void expect_forbidden(S step, std::string_view field, Where at = Where::here()) {
        expect_error(Errc::forbidden, std::move(step), field, at);
    }

    template <class S>
    void expect_error(Errc code, S step, std::string_view field, Where at = Where::here()) {
        const auto before = snapshot();
        const auto reply = routemaster::perform(store_, std::move(step), now_);
        expect(!reply, "a step with an invalid " + std::string{field} + " must fail", at);
        expect(reply.error().code() == code,
               "the error must be '" + make_error_code(code).message() +
                   "', but is: " + reply.error().message(),
               at);
        expect(reply.error().context().starts_with(std::string{field} + ":"),
               "the error must begin with the field " + std::string{field} +
                   ", but is: " + reply.error().message(),
               at);
        expect_unchanged(snapshot(), before, at);
    }

    [[nodiscard]] Uid uid() { return uids_.next(); }

    [[nodiscard]] static Uid worker(unsigned number) {
        return {std::uint64_t{number} << 8U, std::uint64_t{number} << 8U};
    }

    /// Publishes `count` events with the messages `TOPIC 1`, `TOPIC 2` and so on. The numbers
    /// continue through the case.
    void publish(const std::string& topic, unsigned count = 1, const Publication& how = {},
                 Where at = Where::here()) {
        for (unsigned i = 0; i < count; ++i) {
            const auto message = topic + " " + std::to_string(++published_[topic]);
            publish_message(topic, message, how, at);
        }
    }

    [[nodiscard]] PublishEvent publication(const std::string& topic, const std::string& message,
                                           const Publication& how = {}) {
        return {.topic = topic,
                .publisher = how.publisher,
                .message = message,
                .timestamp = how.timestamp.value_or(now_),
                .uid = uid()};
    }

    void publish_message(const std::string& topic, const std::string& message,
                         const Publication& how = {}, Where at = Where::here()) {
        perform(publication(topic, message, how), at);
    }

    [[nodiscard]] std::vector<Topic> topics(Where at = Where::here()) const {
        return perform(ListTopics{}, at);
    }

    void subscribe(const std::string& token, const std::vector<std::string>& topics,
                   const SubscriberSettings& settings = {}, Where at = Where::here()) {
        const auto own = "https://" + token + ".example/events";
        perform(
            Subscribe{.token = token,
                      .topics = topics,
                      .options = {.callback = settings.callback.empty() ? own : settings.callback,
                                  .uuid = settings.uuid,
                                  .timeout = settings.timeout,
                                  .max_events = settings.max_events,
                                  .max_in_flight = settings.max_in_flight,
                                  .attempts_max = settings.attempts_max,
                                  .age_max = settings.age_max,
                                  .dead_max = settings.dead_max}},
            at);
        subscribers_.insert(token);
    }

    /// The status of a subscriber, which must exist.
    [[nodiscard]] SubscriberStatus subscriber(const std::string& token,
                                              Where at = Where::here()) const {
        const auto found = perform(FindSubscriber{token}, at);
        expect(found.has_value(), "no subscriber has the token " + token, at);
        return *found;
    }

    [[nodiscard]] std::vector<BatchStatus> batches(const std::string& token,
                                                   Where at = Where::here()) const {
        std::vector<BatchStatus> all;
        for (const auto& batch : perform(ListBatches{.token = token, .limit = 100'000}, at)) {
            all.push_back(batch.status);
        }
        return all;
    }

    [[nodiscard]] std::vector<DeadBatchStatus> dead(const std::string& token,
                                                    Where at = Where::here()) const {
        return perform(ListDeadBatches{.token = token, .limit = subscription_dead_max}, at);
    }

    PushOutcome push(const std::string& job, Duration delay = {}, Where at = Where::here()) const {
        return perform(PushJob{work_queue, job, now_ + delay}, at).outcome;
    }

    /// Pushes a job with options. The job must be new. Returns its id.
    JobId push_with(const std::string& job, const JobOptions& options,
                    Where at = Where::here()) const {
        const auto pushed = perform(PushJob{work_queue, job, now_, options}, at);
        expect_equal(pushed.outcome, PushOutcome::pushed, "outcome of the push of " + job, at);
        return pushed.id;
    }

    /// The status of a job of `work_queue`, which must exist.
    [[nodiscard]] JobStatus job(JobId id, Where at = Where::here()) const {
        auto found = perform(FindJob{work_queue, id}, at);
        expect(found.has_value(), "no job has the id " + std::to_string(id), at);
        return *std::move(found);
    }

    [[nodiscard]] std::vector<JobStatus> jobs(JobStatus::State state) const {
        return jobs_of(store_, work_queue, state, now_);
    }

    JobId bury_next(const std::string& error = "broken", Where at = Where::here()) const {
        const auto lease = take_work(1, at);
        const FailJob failed{.lease = lease, .error = error, .run_at = now_, .bury = true};
        expect_equal(perform(failed, at), Settlement::buried, "settlement of a permanent failure",
                     at);
        return lease.id;
    }

    void bury_many(const std::string& name, std::uint32_t jobs) const {
        for (std::uint32_t done = 0; done < jobs;) {
            std::vector<Step> steps;
            for (; done < jobs && steps.size() < 500; ++done) {
                steps.emplace_back(PushJob{work_queue, name + std::to_string(done), now_});
            }
            perform_each(steps, "a push");
            steps.clear();
            for (const auto& lease : acquire({.limit = 500, .queue = work_queue}).leases) {
                steps.emplace_back(
                    FailJob{.lease = lease, .error = "x", .run_at = {}, .bury = true});
            }
            perform_each(steps, "a burial");
        }
    }

    /// Performs steps. All of them must succeed.
    void perform_each(std::vector<Step>& steps, const std::string& what) const {
        for (const auto& one : perform_all(store_, steps, now_)) {
            if (!one) fail(what + " failed: " + one.error().message());
        }
    }

    Acquired acquire(const Taking& what = {}, Where at = Where::here()) const {
        return perform(AcquireJobs{what.queue, worker(what.worker), what.limit}, at);
    }

    /// Acquires the next job, which must exist.
    Lease take(Taking what = {}, Where at = Where::here()) const {
        what.limit = 1;
        auto acquired = acquire(what, at);
        expect_equal(acquired.leases.size(), 1U, "number of jobs acquired from " + what.queue, at);
        return std::move(acquired.leases.front());
    }

    /// Acquires the next job of `work_queue`, which must exist.
    Lease take_work(unsigned by = 1, Where at = Where::here()) const {
        return take({.worker = by, .queue = work_queue}, at);
    }

    /// Expects that no job of a queue can be acquired until `due`.
    void expect_idle_until(TimePoint due, const std::string& queue = delivery_queue,
                           Where at = Where::here()) const {
        const auto acquired = acquire({.queue = queue}, at);
        expect_equal(acquired.leases, std::vector<Lease>{}, "leases acquired from " + queue, at);
        expect_equal(acquired.next_due, due,
                     "time of the next acquisition from queue '" + queue + "'", at);
    }

    [[nodiscard]] QueueStatus queue(const std::string& name, Where at = Where::here()) const {
        return perform(CountJobs{name}, at);
    }

    DeliveryStart begin(const Lease& lease, double jitter = 0, Where at = Where::here()) const {
        return perform(BeginDelivery{lease, backoff_max, jitter}, at);
    }

    /// Acquires and begins the next delivery. Both must succeed.
    std::pair<Lease, DeliveryStart> begin_next(unsigned by = 1, Where at = Where::here()) const {
        auto lease = take({.worker = by}, at);
        auto start = begin(lease, 0, at);
        expect_equal(start.verdict, Verdict::deliver, "verdict of the attempt", at);
        return {std::move(lease), std::move(start)};
    }

    Settlement settle(const Lease& lease, const Attempt& how = {}, Where at = Where::here()) const {
        return perform(SettleDelivery{.lease = lease,
                                      .delivered = how.delivered,
                                      .health_change = how.health_change,
                                      .begun_at = now_ - how.took,
                                      .retry_at = now_ + how.retry_after,
                                      .permanent = how.permanent,
                                      .error = how.error},
                       at);
    }

    /// Fails the next delivery, after which its batch must be DEAD if it has no attempts left.
    /// Otherwise it is retried at once. Returns the id of the batch.
    Uid kill_next(const std::string& error = "HTTP 500", Where at = Where::here()) {
        const auto [lease, start] = begin_next(1, at);
        const Attempt failed{.delivered = false, .retry_after = Duration{0}, .error = error};
        expect_equal(settle(lease, failed, at), Settlement::dead, "settlement of the last failure",
                     at);
        return start.batch;
    }

    void fail_next(int health_change, Where at = Where::here()) {
        const auto [lease, start] = begin_next(1, at);
        const Attempt failed{
            .delivered = false, .health_change = health_change, .retry_after = Duration{0}};
        expect_equal(settle(lease, failed, at), Settlement::settled, "settlement of a failure", at);
    }

    void drain(Where at = Where::here()) {
        for (auto leases = acquire({}, at).leases; !leases.empty();
             leases = acquire({}, at).leases) {
            for (const auto& lease : leases) {
                const auto start = begin(lease, 0, at);
                if (start.verdict != Verdict::deliver) continue;
                delivered_[start.subscription.token].emplace_back(start.messages.begin(),
                                                                  start.messages.end());
                expect_equal(settle(lease, {}, at), Settlement::settled, "settlement of a success",
                             at);
            }
        }
    }

    [[nodiscard]] Batches take_delivered(const std::string& token) {
        return std::exchange(delivered_[token], {});
    }

    void expect_delivered(const std::string& token, const Batches& expected,
                          Where at = Where::here()) {
        drain(at);
        expect_equal(take_delivered(token), expected, "batches delivered to " + token, at);
    }

    [[nodiscard]] std::vector<Counter> counters(Where at = Where::here()) const {
        if (traits_.flush_counters) traits_.flush_counters(store_);
        return perform(ListCounters{}, at);
    }

    [[nodiscard]] std::optional<std::int64_t> counter(const CounterKey& key,
                                                      Where at = Where::here()) const {
        for (const auto& counter : counters(at)) {
            if (counter.key == key) return counter.value;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::int64_t> counter_of(const std::string& token,
                                                         const std::string& name,
                                                         const char* status = nullptr,
                                                         Where at = Where::here()) const {
        CounterKey key{name, {{"queue", token}}};
        if (status != nullptr) key.tags.emplace_back("status", status);
        return counter(key, at);
    }

    [[nodiscard]] Snapshot snapshot() const {
        if (traits_.flush_counters) traits_.flush_counters(store_);
        return snapshot_of(store_, subscribers_, work_queue, now_);
    }

private:
    Store& store_;
    const StoreTraits& traits_;
    TimePoint now_ = from_milliseconds(1'700'000'000'000);
    UidSource uids_{0x517cc1b727220a95U, 0x2545f4914f6cdd1dU};
    std::map<std::string, unsigned> published_;
    std::set<std::string> subscribers_;  // All subscribers that ever existed in the case.
    std::map<std::string, Batches> delivered_;
};

}  // namespace routemaster::testing
