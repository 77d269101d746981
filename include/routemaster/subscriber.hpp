/// @file
/// `Subscriber`: a handle for one subscriber of a bus.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/batch_explanation.hpp"
#include "routemaster/callbacks.hpp"
#include "routemaster/queued_batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

struct Subscribe;

/// Settings of a subscription with a callback in this process. See `SubscribeOptions`.
struct LocalSubscribeOptions {
    /// How long a batch waits for more events. Default 0, because calls in the process are cheap.
    Duration timeout{0};
    std::optional<std::uint32_t> max_events{};
    std::optional<std::uint32_t> max_in_flight{};
    std::optional<std::uint32_t> attempts_max{};
    std::optional<Duration> age_max{};
    std::optional<std::uint32_t> dead_max{};
};

/// Handle for the subscriber with a given token. The subscriber need not exist yet. Created by
/// `Bus::subscriber`. Cheap to copy.
///
/// As in `Bus`, every call exists in two forms: the first blocks, the second calls `done`.
///
/// Thread safety: all members may be called from any thread. The bus must outlive the object.
class Subscriber {
public:
    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    /// Creates or changes the subscriber. From now on it receives the events of exactly these
    /// topics. See `Subscribe` for the settings that are retained. If a setting is wrong, the error
    /// is `invalid` and names the field.
    Result<void> subscribe(std::vector<std::string> topics, SubscribeOptions options);
    void subscribe(std::vector<std::string> topics, SubscribeOptions options,
                   std::function<void(Result<void>)> done);

    /// Subscribes a callback in this process. A dispatcher with a `LocalTransport` calls the
    /// callback. The callback is registered before the first batch can arrive. The subscription is
    /// stored, but the callback is not: call this function again after a restart. An empty callback
    /// is `invalid`.
    template <HandlesBatches Handler>
    Result<void> subscribe(std::vector<std::string> topics, Handler handler,
                           LocalSubscribeOptions options = {}) {
        return subscribe_here(std::move(topics), std::move(handler), options);
    }
    template <HandlesBatches Handler>
    void subscribe(std::vector<std::string> topics, Handler handler, LocalSubscribeOptions options,
                   std::function<void(Result<void>)> done) {
        subscribe_here(std::move(topics), std::move(handler), options, std::move(done));
    }

    /// Removes the subscription to a topic. Queued events of the topic are still delivered.
    Result<Unsubscription> unsubscribe(std::string topic);
    void unsubscribe(std::string topic, std::function<void(Result<Unsubscription>)> done);

    /// Removes the subscriber, its subscriptions, and its callback in this process. Its queued
    /// batches and its DEAD batches are dropped.
    Result<Removal> remove();
    void remove(std::function<void(Result<Removal>)> done);

    /// Returns the subscriber's settings, topics, gauges and health, or nothing if the subscriber
    /// does not exist.
    [[nodiscard]] Result<std::optional<SubscriberStatus>> status() const;
    void status(std::function<void(Result<std::optional<SubscriberStatus>>)> done) const;

    // Queued batches: batches that wait or are in flight.

    /// Lists up to `limit` queued batches in delivery order, from the first, or after the batch
    /// `after`. If `after` is not queued any more, the error is `invalid`. The caller must then
    /// restart without `after`.
    [[nodiscard]] Result<std::vector<QueuedBatch>> batches(
        std::uint32_t limit = 1'000, std::optional<Uid> after = std::nullopt) const;
    void batches(std::uint32_t limit, std::optional<Uid> after,
                 std::function<void(Result<std::vector<QueuedBatch>>)> done) const;

    /// Returns a queued batch, or nothing if no queued batch has this id.
    [[nodiscard]] Result<std::optional<QueuedBatch>> batch(const Uid& batch) const;
    void batch(const Uid& batch,
               std::function<void(Result<std::optional<QueuedBatch>>)> done) const;

    /// Returns why a queued batch is not delivered yet, or nothing if no queued batch has this id.
    /// `to_text` formats the explanation.
    [[nodiscard]] Result<std::optional<BatchExplanation>> explain(const Uid& batch) const;
    void explain(const Uid& batch,
                 std::function<void(Result<std::optional<BatchExplanation>>)> done) const;

    /// Makes a batch due now, if it is still open for events or waits for its next attempt. The
    /// batch keeps its position: with `max_in_flight` 1, the batches before it go first. Deliveries
    /// to a subscriber with low health may still be throttled.
    Result<BatchAction> deliver_now(const Uid& batch);
    void deliver_now(const Uid& batch, std::function<void(Result<BatchAction>)> done);

    /// Drops a queued batch, and counts its events in `events.dropped`.
    Result<BatchAction> drop(const Uid& batch);
    void drop(const Uid& batch, std::function<void(Result<BatchAction>)> done);

    // DEAD batches: batches that failed permanently; see `Subscription::attempts_max`.

    /// Lists up to `limit` DEAD batches, the earliest death first, from the first, or after the
    /// batch `after`. If `after` is not DEAD any more, the error is `invalid`. The caller must then
    /// restart without `after`.
    [[nodiscard]] Result<std::vector<DeadBatchStatus>> dead_batches(
        std::uint32_t limit = 1'000, std::optional<Uid> after = std::nullopt) const;
    void dead_batches(std::uint32_t limit, std::optional<Uid> after,
                      std::function<void(Result<std::vector<DeadBatchStatus>>)> done) const;

    /// Returns a DEAD batch with its events, or nothing if no DEAD batch has this id.
    [[nodiscard]] Result<std::optional<DeadBatch>> dead_batch(const Uid& batch) const;
    void dead_batch(const Uid& batch,
                    std::function<void(Result<std::optional<DeadBatch>>)> done) const;

    /// Returns a DEAD batch with its encoded messages, or nothing if no DEAD batch has this id.
    /// `delivery_body` encodes the messages as the body of a delivery.
    [[nodiscard]] Result<std::optional<DeadMessages>> dead_messages(const Uid& batch) const;
    void dead_messages(const Uid& batch,
                       std::function<void(Result<std::optional<DeadMessages>>)> done) const;

    /// Moves a DEAD batch to the end of the queue. Its id is unchanged, and its attempts and its
    /// age count from 0 again. Returns 1, or 0 if no DEAD batch has this id.
    Result<Count> redeliver(const Uid& batch);
    void redeliver(const Uid& batch, std::function<void(Result<Count>)> done);

    /// Moves all batches that are DEAD now to the end of the queue, in the order of their deaths.
    /// Returns the number of batches.
    Result<Count> redeliver_all();
    void redeliver_all(std::function<void(Result<Count>)> done);

    /// Drops a DEAD batch. Returns the numbers of dropped batches and events: 0 if no DEAD batch
    /// has this id.
    Result<Dropped> drop_dead(const Uid& batch);
    void drop_dead(const Uid& batch, std::function<void(Result<Dropped>)> done);

    /// Drops all DEAD batches. Returns the numbers of dropped batches and events.
    Result<Dropped> drop_all_dead();
    void drop_all_dead(std::function<void(Result<Dropped>)> done);

private:
    friend class Bus;
    Subscriber(Store& store, const Clock& clock, Callbacks& callbacks, std::string token);

    Result<void> subscribe_here(std::vector<std::string> topics, BatchHandler handler,
                                const LocalSubscribeOptions& options);
    void subscribe_here(std::vector<std::string> topics, BatchHandler handler,
                        const LocalSubscribeOptions& options,
                        std::function<void(Result<void>)> done);
    void redeliver_more(Count total, std::uint32_t round, std::function<void(Result<Count>)> done);
    void drop_more(Dropped total, std::uint32_t round, std::function<void(Result<Dropped>)> done);
    static Result<std::optional<DeadBatch>> decoded(Result<std::optional<DeadMessages>> found);

    [[nodiscard]] Result<Subscribe> checked(std::vector<std::string> topics,
                                            SubscribeOptions options) const;

    Result<void> put(Subscribe step);
    void put(Subscribe step, std::function<void(Result<void>)> done);
    [[nodiscard]] SubscribeOptions local(const LocalSubscribeOptions& options) const;

    Store* store_;
    const Clock* clock_;
    Callbacks* callbacks_;
    std::string token_;
};

}  // namespace routemaster
