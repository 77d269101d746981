/// @file
/// `SubscriberQueues`: the batches of the state machine. Each subscriber has a queue of batches in
/// the order of their creation, with at most one CURRENT batch, and a list of DEAD batches.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/bus/state/kept_messages.hpp"
#include "core/containers/intrusive_list.hpp"
#include "core/jobs/state/job_table.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/store/dead_error.hpp"
#include "core/store/delivery_job.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

struct SubscriberQueue;

struct Death {
    TimePoint at;
    std::string error;
};

/// A batch of events. A CURRENT batch accepts events, until the batch is *sealed* by the first
/// delivery attempt or by being full.
struct BatchState : Entity {
    BatchState(const Uid& name, SubscriberQueue& in, TimePoint now, std::uint64_t number)
        : Entity{Kind::batch}, uid{name}, subscriber_queue{in}, created_at{now}, order{number} {}

    Uid uid;
    SubscriberQueue& subscriber_queue;
    TimePoint created_at;
    std::uint64_t order;  ///< Push number of the batch's delivery job.
    std::uint32_t attempts = 0;
    bool current = true;
    /// Restored from a journal. A process before the restart may have attempted a delivery.
    bool restored = false;
    /// The batch is CURRENT, but accepts no more events. An earlier process may have begun a
    /// delivery and crashed before the record of the seal was on disk.
    bool closed = false;
    /// This process sealed the batch, and did not restore the batch from a journal. No earlier
    /// process can therefore have attempted its delivery.
    bool sealed_here = false;
    JobState* job = nullptr;       ///< The delivery job; null when the batch is DEAD.
    std::unique_ptr<Death> death;  ///< Null unless DEAD.
    /// Why the last attempt failed; null before a failure. Not stored on disk, so a restarted
    /// process has no text until the next failure.
    std::unique_ptr<std::string> last_error;
    /// The journal row of the batch contains its full record, at `offset`.
    bool full_record = false;
    std::uint32_t offset = 0;
    KeptMessages messages;
    ListHook<BatchState> in_subscriber_queue;  ///< Links the batches of a subscriber.
    ListHook<BatchState> in_age;               ///< Links the batches of all subscribers.

    /// Whether the batch died before `other`. With equal times, the smaller id comes first, as in
    /// all stores.
    [[nodiscard]] bool died_before(const BatchState& other) const {
        return std::tie(death->at, uid) < std::tie(other.death->at, other.uid);
    }
};

enum class SubscriberQueueCounter : std::uint8_t {
    added,
    removed,
    delivered_batches,
    delivered_events,
    delivered_time,
    delivered_time2,
    failed_batches,
    failed_events,
    failed_time,
    failed_time2,
    throttled_batches,
    throttled_events,
    first_attempts,
    first_attempt_latency,
    last_attempt_latency,
    autodropped,
    dead_batches,
    dead_events,
    redelivered,
    dead_dropped,
    dropped,
};

/// The name and the tag `status` of each counter, in the order of `SubscriberQueueCounter`.
inline constexpr std::array<std::pair<const char*, const char*>, 21> subscriber_queue_counter_names{
    {
        {"events.added", nullptr},
        {"events.removed", nullptr},
        {"delivery.batches", "success"},
        {"delivery.events", "success"},
        {"delivery.time", "success"},
        {"delivery.time2", "success"},
        {"delivery.batches", "failure"},
        {"delivery.events", "failure"},
        {"delivery.time", "failure"},
        {"delivery.time2", "failure"},
        {"delivery.batches", "throttled"},
        {"delivery.events", "throttled"},
        {"latency.batches.count", nullptr},
        {"latency.batches.first_attempt", nullptr},
        {"latency.batches.last_attempt", nullptr},
        {"events.autodropped", nullptr},
        {"batches.dead", nullptr},
        {"events.dead", nullptr},
        {"events.redelivered", nullptr},
        {"events.dead_dropped", nullptr},
        {"events.dropped", nullptr},
    }};

/// All batches of a subscriber. They remain after the subscriber was removed.
struct SubscriberQueue {
    OrderingGroup group;  ///< The group of its delivery jobs, named by the subscriber's token.
    BatchState* current = nullptr;
    IntrusiveList<BatchState, &BatchState::in_subscriber_queue> batches;
    IntrusiveList<BatchState, &BatchState::in_subscriber_queue> dead;
    std::uint64_t events = 0;
    /// Indexed by `SubscriberQueueCounter`. Null before the first increment.
    std::array<CounterState*, subscriber_queue_counter_names.size()> counters{};
};

class SubscriberQueueTable {
public:
    SubscriberQueueTable(ChangeLog& changes, CounterTable& counters, JobTable& jobs)
        : changes_{changes}, counters_{counters}, jobs_{jobs} {}

    SubscriberQueue& open(const std::string& token) {
        const auto [place, fresh] = subscriber_queues_.try_emplace(token);
        if (fresh) place->second.group.name = token;
        return place->second;
    }

    [[nodiscard]] const SubscriberQueue* find(const std::string& token) const {
        const auto found = subscriber_queues_.find(token);
        return found == subscriber_queues_.end() ? nullptr : &found->second;
    }

    [[nodiscard]] BatchState* find(const Uid& uid) const {
        const auto found = batches_.find(uid);
        return found == batches_.end() ? nullptr : found->second.get();
    }

    /// The batch that a job delivers. Null if the job is not a delivery job, or is a copy of a
    /// delivery job in another queue.
    [[nodiscard]] BatchState* delivered_by(const JobState& job) const {
        const auto uid = batch_of(job.payload.text());
        auto* batch = uid ? find(*uid) : nullptr;
        return batch != nullptr && batch->job == &job ? batch : nullptr;
    }

    /// Whether a batch has this id, or a delivery job that was pushed without a batch.
    [[nodiscard]] bool taken(const Uid& uid) const {
        return find(uid) != nullptr ||
               jobs_.find(jobs_.queues().deliveries(), delivery_job(uid)) != nullptr;
    }

    /// Creates a CURRENT batch and its delivery job. The id must be unused.
    BatchState& begin(SubscriberQueue& subscriber_queue, const Uid& uid, TimePoint due,
                      TimePoint now) {
        auto& batch = restore(subscriber_queue, uid, now, jobs_.next_order());
        subscriber_queue.batches.push_back(batch);
        by_age_.push_back(batch);
        subscriber_queue.current = &batch;
        changes_.changed(batch);
        batch.job = &jobs_.push(jobs_.queues().deliveries(), delivery_job(uid), due, batch.order,
                                &subscriber_queue.group, now);
        return batch;
    }

    /// Appends a message to a CURRENT batch. The caller notifies the change log.
    void append(BatchState& batch, std::string_view message) {
        batch.messages.append(message);
        bytes_ += message.size();
        ++batch.subscriber_queue.events;
        count(batch.subscriber_queue, SubscriberQueueCounter::added, 1);
    }

    void seal(BatchState& batch) {
        batch.current = false;
        batch.subscriber_queue.current = nullptr;
        batch.sealed_here = !batch.restored;
        changes_.changed(batch);
    }

    /// Removes a batch with its job, and also the subscriber queue if it is no longer needed.
    void remove(BatchState& batch, bool subscriber_exists) {
        auto& subscriber_queue = batch.subscriber_queue;
        dequeue(batch);
        forget(batch);
        if (!subscriber_exists) close(subscriber_queue);
    }

    /// Removes an undelivered batch and counts its events. The batch must not be under delivery.
    void drop(BatchState& batch, SubscriberQueueCounter as, bool subscriber_exists) {
        count_events(batch, as);
        // A crash could lose this removal and restore the batch's job. To preserve the order, the
        // jobs behind it are not acquired before the removal is on disk.
        changes_.skipped(batch.subscriber_queue.group);
        remove(batch, subscriber_exists);
    }

    /// Makes a batch DEAD. Beyond `dead_max` DEAD batches, removes those with the earliest deaths.
    void bury(BatchState& batch, std::string_view error, std::uint32_t dead_max, TimePoint now) {
        auto& subscriber_queue = batch.subscriber_queue;
        // A crash could lose this removal and restore the batch's job. To preserve the order, the
        // jobs behind it are not acquired before the removal is on disk.
        changes_.skipped(subscriber_queue.group);
        dequeue(batch);
        batch.current = false;
        batch.last_error.reset();
        batch.death = std::make_unique<Death>(Death{now, std::string{kept_error(error)}});
        lay_out(batch);
        changes_.died(batch);
        count(subscriber_queue, SubscriberQueueCounter::dead_batches, 1);
        count_events(batch, SubscriberQueueCounter::dead_events);
        for (std::uint32_t moved = 0;
             subscriber_queue.dead.size() > dead_max && moved < dead_moved_max; ++moved) {
            drop_dead(*subscriber_queue.dead.front());
        }
    }

    /// Makes a DEAD batch the last queued batch of its subscriber, as if it were new. Returns false
    /// and changes nothing if a client has meanwhile pushed a delivery job with the id of the
    /// batch.
    bool redeliver(BatchState& batch, TimePoint now) {
        auto& subscriber_queue = batch.subscriber_queue;
        auto& queue = jobs_.queues().deliveries();
        const auto job = delivery_job(batch.uid);
        if (jobs_.find(queue, job) != nullptr) return false;
        subscriber_queue.dead.remove(batch);
        dead_.remove(batch);
        batch.death.reset();
        batch.attempts = 0;
        batch.created_at = now;
        batch.order = jobs_.next_order();
        subscriber_queue.batches.push_back(batch);
        by_age_.push_back(batch);
        subscriber_queue.events += batch.messages.size();
        changes_.redelivered(batch);
        count_events(batch, SubscriberQueueCounter::redelivered);
        count_events(batch, SubscriberQueueCounter::added);
        batch.job = &jobs_.push(queue, job, now, batch.order, &subscriber_queue.group, now);
        return true;
    }

    void drop_dead(BatchState& batch) {
        count_events(batch, SubscriberQueueCounter::dead_dropped);
        batch.subscriber_queue.dead.remove(batch);
        dead_.remove(batch);
        forget(batch);
    }

    /// Calls `visit` with each queued batch, oldest first, and then with each DEAD batch.
    template <class Visit>
    void each(Visit visit) const {
        for (const auto* list : {&by_age_, &dead_}) {
            for (const auto* batch = list->front(); batch != nullptr; batch = list->next(*batch)) {
                visit(*batch);
            }
        }
    }

    template <class Visit>
    void each_of_all(Visit visit) {
        for (const auto& [uid, batch] : batches_) visit(*batch);
    }

    /// Bytes of all messages in all batches, including DEAD batches.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// Removes at most `limit` batches: first DEAD batches, oldest death first; then queued
    /// batches, oldest first. Skips batches under delivery.
    template <class Exists>
    Dropped drop_oldest(std::uint32_t limit, Exists exists) {
        Dropped dropped;
        while (!dead_.empty() && dropped.batches < limit) {
            auto& first = *dead_.front();
            ++dropped.batches;
            dropped.events += first.messages.size();
            count_events(first, SubscriberQueueCounter::autodropped);
            drop_dead(first);
        }
        for (auto* batch = by_age_.front(); batch != nullptr && dropped.batches < limit;) {
            auto& oldest = *batch;
            batch = by_age_.next(oldest);
            if (oldest.job->state == JobState::State::pending) continue;
            ++dropped.batches;
            dropped.events += oldest.messages.size();
            drop(oldest, SubscriberQueueCounter::autodropped,
                 exists(oldest.subscriber_queue.group.name));
        }
        return dropped;
    }

    void count(SubscriberQueue& subscriber_queue, SubscriberQueueCounter which,
               std::int64_t increment) {
        const auto index = static_cast<std::size_t>(which);
        auto*& counter = subscriber_queue.counters[index];
        if (counter == nullptr) {
            const auto [name, status] = subscriber_queue_counter_names[index];
            CounterKey key{name, {{"queue", subscriber_queue.group.name}}};
            if (status != nullptr) key.tags.emplace_back("status", status);
            counter = &counters_.at(std::move(key));
        }
        counters_.add(*counter, increment);
    }

    /// Destroys the empty queue of a removed subscriber. Does nothing if the queue still has
    /// batches or jobs.
    void close(SubscriberQueue& subscriber_queue) {
        if (!subscriber_queue.batches.empty() || !subscriber_queue.dead.empty() ||
            !subscriber_queue.group.jobs.empty())
            return;
        jobs_.destinations().abandon(subscriber_queue.group);
        subscriber_queues_.erase(std::string{subscriber_queue.group.name});
    }

    // --- Restoring ------------------------------------------------------------------------------

    /// Adds a restored batch to the index. `settle_restored` later inserts it into its lists.
    BatchState& restore(SubscriberQueue& subscriber_queue, const Uid& uid, TimePoint created_at,
                        std::uint64_t order) {
        auto state = std::make_unique<BatchState>(uid, subscriber_queue, created_at, order);
        return *batches_.emplace(uid, std::move(state)).first->second;
    }

    /// Removes a restored batch. To be called before `settle_restored`.
    void unrestore(BatchState& batch) { batches_.erase(batch.uid); }

    /// Inserts every restored batch into its subscriber queue, in order, and links it to its job.
    /// To be called before `JobTable::settle_restored`. A batch without a job gets a job, although
    /// routemaster's journals contain no such batch.
    void settle_restored() {
        std::vector<BatchState*> all;
        for (const auto& [uid, batch] : batches_) all.push_back(batch.get());
        std::sort(all.begin(), all.end(),
                  [](const BatchState* a, const BatchState* b) { return a->order < b->order; });
        auto& queue = jobs_.queues().deliveries();
        for (auto* batch : all) {
            auto& subscriber_queue = batch->subscriber_queue;
            bytes_ += batch->messages.payload_bytes();
            if (batch->death != nullptr) {
                lay_out(*batch);
                continue;
            }
            subscriber_queue.batches.push_back(*batch);
            by_age_.push_back(*batch);
            subscriber_queue.events += batch->messages.size();
            if (batch->current) subscriber_queue.current = batch;
            batch->job = jobs_.find(queue, delivery_job(batch->uid));
            if (batch->job == nullptr) {
                batch->job = &jobs_.restore(queue, delivery_job(batch->uid), batch->created_at,
                                            batch->order, &subscriber_queue.group);
            }
        }
    }

    /// Destroys the empty queues of removed subscribers. `Exists` returns for a token whether its
    /// subscriber exists. Any worker may complete the deliveries in the other queues of removed
    /// subscribers.
    template <class Exists>
    void prune(Exists exists) {
        for (auto& [token, subscriber_queue] : subscriber_queues_) {
            if (!exists(token)) jobs_.destinations().abandon(subscriber_queue.group);
        }
        std::erase_if(subscriber_queues_, [&](const auto& entry) {
            const auto& [token, subscriber_queue] = entry;
            return subscriber_queue.batches.empty() && subscriber_queue.dead.empty() &&
                   subscriber_queue.group.jobs.empty() && !exists(token);
        });
    }

private:
    using ByAge = IntrusiveList<BatchState, &BatchState::in_age>;

    /// Removes a batch from its subscriber queue and removes its job. The next job of the group
    /// becomes eligible.
    void dequeue(BatchState& batch) {
        auto& subscriber_queue = batch.subscriber_queue;
        count_events(batch, SubscriberQueueCounter::removed);
        subscriber_queue.events -= batch.messages.size();
        if (subscriber_queue.current == &batch) subscriber_queue.current = nullptr;
        if (batch.job != nullptr) jobs_.remove(*batch.job);
        batch.job = nullptr;
        subscriber_queue.batches.remove(batch);
        by_age_.remove(batch);
    }

    void forget(BatchState& batch) {
        bytes_ -= batch.messages.payload_bytes();
        changes_.gone(batch);
        batches_.erase(batch.uid);
    }

    /// Inserts a DEAD batch into both lists of DEAD batches, in the order of deaths. The batch is
    /// the last, unless the clock was set back.
    void lay_out(BatchState& batch) {
        const auto put = [&](auto& list) {
            auto* before = list.back();
            while (before != nullptr && batch.died_before(*before)) before = list.previous(*before);
            list.insert_after(before, batch);
        };
        put(batch.subscriber_queue.dead);
        put(dead_);
    }

    void count_events(const BatchState& batch, SubscriberQueueCounter which) {
        count(batch.subscriber_queue, which, static_cast<std::int64_t>(batch.messages.size()));
    }

    ChangeLog& changes_;
    CounterTable& counters_;
    JobTable& jobs_;
    std::map<std::string, SubscriberQueue> subscriber_queues_;
    std::unordered_map<Uid, std::unique_ptr<BatchState>> batches_;
    ByAge by_age_;  ///< Queued batches, by age.
    ByAge dead_;    ///< DEAD batches, oldest death first.
    std::uint64_t bytes_ = 0;
};

}  // namespace routemaster::detail
