/// @file
/// `Subscriber`: the handle of one subscriber of a bus.

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
#include "routemaster/step/reply.hpp"
#include "routemaster/store.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

struct Subscribe;

/// Settings of a subscription to a callback in the process; see `SubscribeOptions`.
struct LocalSubscribeOptions {
    Duration timeout{0};  ///< How long a batch waits for more events; calls are cheap.
    std::optional<std::uint32_t> max_events{};
    std::optional<std::uint32_t> max_in_flight{};
    std::optional<std::uint32_t> attempts_max{};
    std::optional<Duration> age_max{};
    std::optional<std::uint32_t> dead_max{};
};

/// One subscriber, by its token; it need not exist yet. Made by `Bus::subscriber`. Cheap to copy.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread. The bus must outlive it.
class Subscriber {
public:
    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    /// Creates or changes the subscriber: from now on it gets the events of exactly these topics.
    /// See `Subscribe` for settings that are kept. `invalid`, naming the field, when one is wrong.
    Result<void> subscribe(std::vector<std::string> topics, SubscribeOptions options);
    void subscribe(std::vector<std::string> topics, SubscribeOptions options,
                   std::function<void(Result<void>)> done);

    /// The same for a callback in this process, which a dispatcher with a `LocalTransport` calls.
    /// The callback is registered before the first batch can come. The subscription outlives the
    /// process, the callback does not: call this again after a restart. An empty callback is
    /// `invalid`.
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

    /// Ends the subscription to one topic. Events that are queued already are still delivered.
    Result<Unsubscription> unsubscribe(std::string topic);
    void unsubscribe(std::string topic, std::function<void(Result<Unsubscription>)> done);

    /// Forgets the subscriber, its subscriptions and its callback in the process. Its queued
    /// batches end undelivered, and its DEAD batches are dropped.
    Result<Removal> remove();
    void remove(std::function<void(Result<Removal>)> done);

    /// Its settings, topics, gauges and health; nothing when it does not exist.
    [[nodiscard]] Result<std::optional<SubscriberStatus>> status() const;
    void status(std::function<void(Result<std::optional<SubscriberStatus>>)> done) const;

    // --- Queued batches, which wait or are under way -------------------------------------------

    /// Its queued batches in delivery order, at most `limit`: from the first on, or those behind
    /// `after`. `invalid` when `after` is not queued any more: begin again.
    [[nodiscard]] Result<std::vector<QueuedBatch>> batches(
        std::uint32_t limit = 1'000, std::optional<Uid> after = std::nullopt) const;
    void batches(std::uint32_t limit, std::optional<Uid> after,
                 std::function<void(Result<std::vector<QueuedBatch>>)> done) const;

    /// One of them; nothing when no queued batch has that id.
    [[nodiscard]] Result<std::optional<QueuedBatch>> batch(const Uid& batch) const;
    void batch(const Uid& batch,
               std::function<void(Result<std::optional<QueuedBatch>>)> done) const;

    /// Why one of them is not delivered yet, which `to_text` says in words; nothing when no queued
    /// batch has that id.
    [[nodiscard]] Result<std::optional<BatchExplanation>> explain(const Uid& batch) const;
    void explain(const Uid& batch,
                 std::function<void(Result<std::optional<BatchExplanation>>)> done) const;

    /// Ends the wait of one of them, which fills, or failed. It keeps its place: with
    /// `max_in_flight` 1 those before it go first. A subscriber whose health is low may still be
    /// spared for a while.
    Result<BatchAction> deliver_now(const Uid& batch);
    void deliver_now(const Uid& batch, std::function<void(Result<BatchAction>)> done);

    /// Drops one of them, which counts its events in `events.dropped`.
    Result<BatchAction> drop(const Uid& batch);
    void drop(const Uid& batch, std::function<void(Result<BatchAction>)> done);

    // --- DEAD batches, which failed for good; see `Subscription::attempts_max` -------------------

    /// Its DEAD batches, those that died first at the front, at most `limit`: from the first on, or
    /// those behind `after`. `invalid` when `after` is not DEAD any more: begin again.
    [[nodiscard]] Result<std::vector<DeadBatchStatus>> dead_batches(
        std::uint32_t limit = 1'000, std::optional<Uid> after = std::nullopt) const;
    void dead_batches(std::uint32_t limit, std::optional<Uid> after,
                      std::function<void(Result<std::vector<DeadBatchStatus>>)> done) const;

    /// One of them, with its events; nothing when no DEAD batch has that id.
    [[nodiscard]] Result<std::optional<DeadBatch>> dead_batch(const Uid& batch) const;
    void dead_batch(const Uid& batch,
                    std::function<void(Result<std::optional<DeadBatch>>)> done) const;

    /// The same as it is stored: `delivery_body` makes the body of a delivery from its messages.
    [[nodiscard]] Result<std::optional<DeadMessages>> dead_messages(const Uid& batch) const;
    void dead_messages(const Uid& batch,
                       std::function<void(Result<std::optional<DeadMessages>>)> done) const;

    /// Delivers one of them again, at the end of the queue: with the same id, and as if it began
    /// now. Returns 1, or 0 when no DEAD batch has that id.
    Result<Count> redeliver(const Uid& batch);
    void redeliver(const Uid& batch, std::function<void(Result<Count>)> done);

    /// Delivers those that are DEAD now again, in the order they died. Returns how many.
    Result<Count> redeliver_all();
    void redeliver_all(std::function<void(Result<Count>)> done);

    /// Drops one of them. Returns what was dropped: nothing when no DEAD batch has that id.
    Result<Dropped> drop_dead(const Uid& batch);
    void drop_dead(const Uid& batch, std::function<void(Result<Dropped>)> done);

    /// Drops all of them. Returns what was dropped.
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
