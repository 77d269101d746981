/// @file
/// The batches of the state machine: for each subscriber an outbox, in which at most one batch is
/// CURRENT and all stand in the order they began.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/detail/delivery_job.hpp"
#include "routemaster/detail/intrusive_list.hpp"
#include "routemaster/detail/state/counters.hpp"
#include "routemaster/detail/state/entity.hpp"
#include "routemaster/detail/state/jobs.hpp"
#include "routemaster/detail/state/kept_messages.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

struct Outbox;

/// A batch.
struct BatchState : Entity {
    BatchState(const Uid& name, Outbox& in, TimePoint now, std::uint64_t number)
        : Entity{Kind::batch}, uid{name}, outbox{in}, created_at{now}, order{number} {}

    Uid uid;
    Outbox& outbox;
    TimePoint created_at;
    std::uint64_t order;  ///< That of its delivery job.
    std::uint32_t attempts = 0;
    bool current = true;
    JobState* job = nullptr;
    bool whole = false;        ///< Its row tells all of it, at `offset`.
    std::uint32_t offset = 0;  ///< Where in its row it was told whole.
    KeptMessages messages;
    ListHook<BatchState> in_outbox;
    ListHook<BatchState> in_age;
};

/// What is counted for each subscriber.
enum class OutboxCounter : std::uint8_t {
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
};

/// Under which name and status each is told, in the order of `OutboxCounter`.
inline constexpr std::array<std::pair<const char*, const char*>, 16> outbox_counter_names{{
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
}};

/// All batches for one subscriber, whether or not it still exists.
struct Outbox {
    Lane lane;  ///< Its delivery jobs; named by the subscriber's token.
    BatchState* current = nullptr;
    IntrusiveList<BatchState, &BatchState::in_outbox> batches;
    std::uint64_t events = 0;  ///< Gauge: events in `batches`.
    /// By `OutboxCounter`; each comes into being with its first increment.
    std::array<CounterState*, outbox_counter_names.size()> counters{};
};

/// All outboxes and batches.
class OutboxTable {
public:
    OutboxTable(Effects& effects, CounterTable& counters, JobTable& jobs)
        : effects_{effects}, counters_{counters}, jobs_{jobs} {}

    Outbox& open(const std::string& token) {
        const auto [place, fresh] = outboxes_.try_emplace(token);
        if (fresh) place->second.lane.name = token;
        return place->second;
    }

    [[nodiscard]] const Outbox* find(const std::string& token) const {
        const auto found = outboxes_.find(token);
        return found == outboxes_.end() ? nullptr : &found->second;
    }

    [[nodiscard]] BatchState* find(const Uid& uid) const {
        const auto found = batches_.find(uid);
        return found == batches_.end() ? nullptr : found->second.get();
    }

    /// Whether an id names a batch, or a delivery job that somebody pushed without one.
    [[nodiscard]] bool taken(const Uid& uid) const {
        return find(uid) != nullptr ||
               jobs_.find(jobs_.queue(delivery_queue), delivery_job(uid)) != nullptr;
    }

    /// Begins a CURRENT batch, and its delivery job. The id must not be taken.
    BatchState& begin(Outbox& outbox, const Uid& uid, TimePoint due, TimePoint now) {
        auto& batch = restore(outbox, uid, now, jobs_.next_order());
        outbox.batches.push_back(batch);
        by_age_.push_back(batch);
        outbox.current = &batch;
        effects_.changed(batch);
        batch.job = &jobs_.push(jobs_.queue(delivery_queue), delivery_job(uid), due, batch.order,
                                &outbox.lane, now);
        return batch;
    }

    /// Puts a message at the end of a CURRENT batch. The caller tells the effects.
    void append(BatchState& batch, std::string_view message) {
        batch.messages.append(message);
        bytes_ += message.size();
        ++batch.outbox.events;
        count(batch.outbox, OutboxCounter::added, 1);
    }

    void seal(BatchState& batch) {
        batch.current = false;
        batch.outbox.current = nullptr;
        effects_.changed(batch);
    }

    /// Ends a batch together with its job, and the outbox if nothing needs it any more.
    void remove(BatchState& batch, bool subscriber_exists) {
        auto& outbox = batch.outbox;
        const auto events = batch.messages.size();
        count(outbox, OutboxCounter::removed, static_cast<std::int64_t>(events));
        outbox.events -= events;
        if (outbox.current == &batch) outbox.current = nullptr;
        if (batch.job != nullptr) jobs_.remove(*batch.job);
        outbox.batches.remove(batch);
        by_age_.remove(batch);
        bytes_ -= batch.messages.payload_bytes();
        effects_.gone(batch);
        batches_.erase(batch.uid);
        if (!subscriber_exists) close(outbox);
    }

    /// Calls `visit` with each batch, oldest first.
    template <class Visit>
    void each(Visit visit) const {
        for (const auto* batch = by_age_.front(); batch != nullptr; batch = by_age_.next(*batch)) {
            visit(*batch);
        }
    }

    /// Bytes of all messages in all batches.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// Ends the oldest batches, passing over those under delivery, at most `limit`.
    template <class Exists>
    Dropped drop_oldest(std::uint32_t limit, Exists exists) {
        Dropped dropped;
        for (auto* batch = by_age_.front(); batch != nullptr && dropped.batches < limit;) {
            auto& oldest = *batch;
            batch = by_age_.next(oldest);
            if (oldest.job->state == JobState::State::pending) continue;
            const auto events = oldest.messages.size();
            ++dropped.batches;
            dropped.events += events;
            count(oldest.outbox, OutboxCounter::autodropped, static_cast<std::int64_t>(events));
            effects_.skipped(oldest.outbox.lane);
            remove(oldest, exists(oldest.outbox.lane.name));
        }
        return dropped;
    }

    /// Adds to one of the counters of a subscriber.
    void count(Outbox& outbox, OutboxCounter which, std::int64_t increment) {
        const auto index = static_cast<std::size_t>(which);
        auto*& counter = outbox.counters[index];
        if (counter == nullptr) {
            const auto [name, status] = outbox_counter_names[index];
            CounterKey key{name, {{"queue", outbox.lane.name}}};
            if (status != nullptr) key.tags.emplace_back("status", status);
            counter = &counters_.at(std::move(key));
        }
        counters_.add(*counter, increment);
    }

    /// Forgets an outbox whose subscriber is gone, once it is empty.
    void close(Outbox& outbox) {
        if (!outbox.batches.empty() || !outbox.lane.jobs.empty()) return;
        outboxes_.erase(std::string{outbox.lane.name});
    }

    // --- Restoring ------------------------------------------------------------------------------

    /// Puts a batch into the index alone; `settle_restored` finds its place.
    BatchState& restore(Outbox& outbox, const Uid& uid, TimePoint created_at, std::uint64_t order) {
        auto state = std::make_unique<BatchState>(uid, outbox, created_at, order);
        return *batches_.emplace(uid, std::move(state)).first->second;
    }

    /// Takes a batch out that has only been restored.
    void unrestore(BatchState& batch) { batches_.erase(batch.uid); }

    /// Puts every restored batch into its outbox, in order, and finds its job. Called before the
    /// jobs get their places. A batch without a job, which no journal of ours leaves, gets one.
    void settle_restored() {
        std::vector<BatchState*> all;
        for (const auto& [uid, batch] : batches_) all.push_back(batch.get());
        std::sort(all.begin(), all.end(),
                  [](const BatchState* a, const BatchState* b) { return a->order < b->order; });
        auto& queue = jobs_.queue(delivery_queue);
        for (auto* batch : all) {
            auto& outbox = batch->outbox;
            outbox.batches.push_back(*batch);
            by_age_.push_back(*batch);
            bytes_ += batch->messages.payload_bytes();
            outbox.events += batch->messages.size();
            if (batch->current) outbox.current = batch;
            batch->job = jobs_.find(queue, delivery_job(batch->uid));
            if (batch->job == nullptr) {
                batch->job = &jobs_.restore(queue, delivery_job(batch->uid), batch->created_at,
                                            batch->order, &outbox.lane);
            }
        }
    }

    /// Forgets the empty outboxes whose subscriber, by token, does not exist.
    template <class Exists>
    void prune(Exists exists) {
        std::erase_if(outboxes_, [&](const auto& entry) {
            const auto& [token, outbox] = entry;
            return outbox.batches.empty() && outbox.lane.jobs.empty() && !exists(token);
        });
    }

private:
    Effects& effects_;
    CounterTable& counters_;
    JobTable& jobs_;
    std::map<std::string, Outbox> outboxes_;
    std::unordered_map<Uid, std::unique_ptr<BatchState>> batches_;
    IntrusiveList<BatchState, &BatchState::in_age> by_age_;
    std::uint64_t bytes_ = 0;
};

}  // namespace routemaster::detail
