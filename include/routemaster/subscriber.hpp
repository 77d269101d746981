/// @file
/// `Subscriber`: the handle of one subscriber of a bus.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/callbacks.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/time.hpp"
#include "routemaster/url.hpp"

namespace routemaster {

/// Settings of a subscription to a callback in the process; see `SubscribeOptions`.
struct LocalSubscribeOptions {
    Duration timeout{0};  ///< How long a batch may wait for more events. A call costs little.
    std::optional<std::uint32_t> max_events{};
    std::optional<std::uint32_t> max_in_flight{};
    std::optional<std::uint32_t> attempts_max{};
    std::optional<Duration> age_max{};
    std::optional<std::uint32_t> dead_max{};
};

/// One subscriber, by its token; it need not exist yet. Got from `Bus::subscriber`. Cheap to copy.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread. The bus must outlive it.
class Subscriber {
public:
    /// Use `Bus::subscriber`.
    Subscriber(Store& store, const Clock& clock, Callbacks& callbacks, std::string token)
        : store_{&store}, clock_{&clock}, callbacks_{&callbacks}, token_{std::move(token)} {}

    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    /// Creates or changes the subscriber: from now on it gets the events of exactly these topics.
    /// See `Subscribe` for what is kept. `invalid`, naming the field, when something is wrong.
    Result<void> subscribe(std::vector<std::string> topics, SubscribeOptions options) {
        auto step = checked(std::move(topics), std::move(options));
        if (!step) return step.error();
        return put(*std::move(step));
    }
    void subscribe(std::vector<std::string> topics, SubscribeOptions options,
                   std::function<void(Result<void>)> done) {
        auto step = checked(std::move(topics), std::move(options));
        if (!step) return done(step.error());
        put(*std::move(step), std::move(done));
    }

    /// The same for a callback in this process, which a dispatcher with a `LocalTransport` calls.
    /// The callback is known before the first batch can come. The subscription outlives the
    /// process, the callback does not: call this again after a restart.
    template <HandlesBatches Handler>
    Result<void> subscribe(std::vector<std::string> topics, Handler handler,
                           LocalSubscribeOptions options = {}) {
        auto step = checked(std::move(topics), local(options));
        if (!step) return step.error();
        callbacks_->set(token_, std::move(handler));
        return put(*std::move(step));
    }
    template <HandlesBatches Handler>
    void subscribe(std::vector<std::string> topics, Handler handler, LocalSubscribeOptions options,
                   std::function<void(Result<void>)> done) {
        auto step = checked(std::move(topics), local(options));
        if (!step) return done(step.error());
        callbacks_->set(token_, std::move(handler));
        put(*std::move(step), std::move(done));
    }

    /// Ends the subscription to one topic. Events that are queued already still come.
    Result<Unsubscription> unsubscribe(std::string topic) {
        return perform(*store_, Unsubscribe{token_, std::move(topic)}, clock_->now());
    }
    void unsubscribe(std::string topic, std::function<void(Result<Unsubscription>)> done) {
        submit(*store_, Unsubscribe{token_, std::move(topic)}, clock_->now(), std::move(done));
    }

    /// Forgets the subscriber, its subscriptions and its callback in the process. What is queued
    /// for it ends undelivered, and its DEAD batches are dropped.
    Result<Removal> remove() {
        callbacks_->remove(token_);
        return perform(*store_, RemoveSubscriber{token_}, clock_->now());
    }
    void remove(std::function<void(Result<Removal>)> done) {
        callbacks_->remove(token_);
        submit(*store_, RemoveSubscriber{token_}, clock_->now(), std::move(done));
    }

    /// Its settings, topics, gauges and health; nothing when it does not exist.
    [[nodiscard]] Result<std::optional<SubscriberStatus>> status() const {
        return perform(*store_, FindSubscriber{token_}, clock_->now());
    }
    void status(std::function<void(Result<std::optional<SubscriberStatus>>)> done) const {
        submit(*store_, FindSubscriber{token_}, clock_->now(), std::move(done));
    }

    // --- DEAD batches, which failed for good, as `Subscription::attempts_max` tells --------------

    /// Its DEAD batches, those that died first at the front, at most `limit`.
    [[nodiscard]] Result<std::vector<DeadBatchStatus>> dead_batches(
        std::uint32_t limit = 1'000) const {
        return perform(*store_, ListDeadBatches{token_, limit}, clock_->now());
    }
    void dead_batches(std::uint32_t limit,
                      std::function<void(Result<std::vector<DeadBatchStatus>>)> done) const {
        submit(*store_, ListDeadBatches{token_, limit}, clock_->now(), std::move(done));
    }

    /// One of them, with its events; nothing when there is none of that id.
    [[nodiscard]] Result<std::optional<DeadBatch>> dead_batch(const Uid& batch) const {
        return decoded(perform(*store_, FindDeadBatch{token_, batch}, clock_->now()));
    }
    void dead_batch(const Uid& batch,
                    std::function<void(Result<std::optional<DeadBatch>>)> done) const {
        submit(*store_, FindDeadBatch{token_, batch}, clock_->now(),
               [done = std::move(done)](Result<std::optional<DeadMessages>> found) {
                   done(decoded(std::move(found)));
               });
    }

    /// The same as it is stored: `delivery_body` makes of its messages what would be delivered.
    [[nodiscard]] Result<std::optional<DeadMessages>> dead_messages(const Uid& batch) const {
        return perform(*store_, FindDeadBatch{token_, batch}, clock_->now());
    }
    void dead_messages(const Uid& batch,
                       std::function<void(Result<std::optional<DeadMessages>>)> done) const {
        submit(*store_, FindDeadBatch{token_, batch}, clock_->now(), std::move(done));
    }

    /// Delivers one of them again, at the end of the queue: with the same id, and as if it began
    /// now. Replies 1, or 0 when there is none of that id.
    Result<Count> redeliver(const Uid& batch) {
        return perform(*store_, RedeliverDeadBatches{token_, batch}, clock_->now());
    }
    void redeliver(const Uid& batch, std::function<void(Result<Count>)> done) {
        submit(*store_, RedeliverDeadBatches{token_, batch}, clock_->now(), std::move(done));
    }

    /// Delivers those that are DEAD now again, in the order they died. Replies how many.
    Result<Count> redeliver_all() {
        Count total;
        for (std::uint32_t round = 0; round < rounds_max; ++round) {
            const auto count = perform(*store_, RedeliverDeadBatches{token_}, clock_->now());
            if (!count) return count.error();
            total.value += count->value;
            if (count->value < dead_moved_max) break;
        }
        return total;
    }
    void redeliver_all(std::function<void(Result<Count>)> done) {
        redeliver_more({}, 1, std::move(done));
    }

    /// Drops one of them. Replies what was dropped: nothing, when there is none of that id.
    Result<Dropped> drop_dead(const Uid& batch) {
        return perform(*store_, DropDeadBatches{token_, batch}, clock_->now());
    }
    void drop_dead(const Uid& batch, std::function<void(Result<Dropped>)> done) {
        submit(*store_, DropDeadBatches{token_, batch}, clock_->now(), std::move(done));
    }

    /// Drops all of them. Replies what was dropped.
    Result<Dropped> drop_all_dead() {
        Dropped total;
        for (std::uint32_t round = 0; round < rounds_max; ++round) {
            const auto dropped = perform(*store_, DropDeadBatches{token_}, clock_->now());
            if (!dropped) return dropped.error();
            total.batches += dropped->batches;
            total.events += dropped->events;
            if (dropped->batches < dead_moved_max) break;
        }
        return total;
    }
    void drop_all_dead(std::function<void(Result<Dropped>)> done) {
        drop_more({}, 1, std::move(done));
    }

private:
    /// Steps that move all that may be DEAD at once.
    static constexpr std::uint32_t rounds_max = subscription_dead_max / dead_moved_max;

    void redeliver_more(Count total, std::uint32_t round, std::function<void(Result<Count>)> done) {
        submit(*store_, RedeliverDeadBatches{token_}, clock_->now(),
               [self = *this, total, round,
                done = std::move(done)](const Result<Count>& count) mutable {
                   if (!count) return done(count);
                   total.value += count->value;
                   const bool all = count->value < dead_moved_max || round == rounds_max;
                   all ? done(total) : self.redeliver_more(total, round + 1, std::move(done));
               });
    }

    void drop_more(Dropped total, std::uint32_t round, std::function<void(Result<Dropped>)> done) {
        submit(*store_, DropDeadBatches{token_}, clock_->now(),
               [self = *this, total, round,
                done = std::move(done)](const Result<Dropped>& dropped) mutable {
                   if (!dropped) return done(dropped);
                   total.batches += dropped->batches;
                   total.events += dropped->events;
                   const bool all = dropped->batches < dead_moved_max || round == rounds_max;
                   all ? done(total) : self.drop_more(total, round + 1, std::move(done));
               });
    }

    static Result<std::optional<DeadBatch>> decoded(Result<std::optional<DeadMessages>> found) {
        if (!found) return found.error();
        if (!*found) return std::optional<DeadBatch>{};
        DeadBatch batch{.status = std::move((*found)->status), .events = {}};
        for (const auto message : (*found)->messages) {
            if (auto event = decode_message(message)) {
                batch.events.push_back(*std::move(event));
            } else {
                ++batch.undecodable;
            }
        }
        return std::optional{std::move(batch)};
    }

    [[nodiscard]] Result<Subscribe> checked(std::vector<std::string> topics,
                                            SubscribeOptions options) const {
        if (!options.callback.starts_with(local_scheme)) {
            if (auto url = check_url(options.callback, "callback", UrlRule::http); !url) {
                return url.error();
            }
        }
        if (auto rest = check(token_, topics, options); !rest) return rest.error();
        return Subscribe{token_, std::move(topics), std::move(options)};
    }

    Result<void> put(Subscribe step) {
        return without_value(perform(*store_, std::move(step), clock_->now()));
    }
    void put(Subscribe step, std::function<void(Result<void>)> done) {
        submit(*store_, std::move(step), clock_->now(),
               [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
    }

    [[nodiscard]] SubscribeOptions local(const LocalSubscribeOptions& options) const {
        return {.callback = std::string{local_scheme} + token_,
                .timeout = options.timeout,
                .max_events = options.max_events,
                .max_in_flight = options.max_in_flight,
                .attempts_max = options.attempts_max,
                .age_max = options.age_max,
                .dead_max = options.dead_max};
    }

    Store* store_;
    const Clock* clock_;
    Callbacks* callbacks_;
    std::string token_;
};

}  // namespace routemaster
