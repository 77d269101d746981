/// @file
/// `Bus`: publishers push events into topics, and each subscriber gets them in ordered batches.
///
///              publish              seal (full or stale)
///     event ───────────► batch: CURRENT ───────────────► batch: READY ──► delivered | dropped

#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/callbacks.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/event.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/publisher.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/subscriber.hpp"
#include "routemaster/time.hpp"
#include "routemaster/topic.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Settings of a `Bus`.
struct BusOptions {
    /// Who publishes through this object: topics are claimed for it. Nobody: topics stay
    /// unclaimed, and those that others claimed are closed to it.
    std::optional<std::string> publisher{};
    std::size_t event_data_max = event_data_max_default;  ///< Bytes of MessagePack.
    EventRules rules{};                                   ///< What is asked of events besides.
    const Clock* clock = nullptr;  ///< Null: the machine's clock. Must outlive the bus.
};

/// The event bus of a store. Any number of them, in any processes, may share one.
///
/// An event whose `publish` succeeded survives a crash as the store promises, and is delivered at
/// least once to everyone who was subscribed at that moment.
///
/// Every call exists in two forms: one waits and returns the reply, one returns at once and hands
/// the reply to `done`: inside the call, or later from a thread of the store. `done` must not
/// block; a call that waits, made inside it on a thread of a store, is refused as `invalid`.
///
/// Thread safety: all members may be called from any thread.
class Bus {
public:
    /// The store must outlive the bus.
    explicit Bus(Store& store, BusOptions options = {})
        : store_{store},
          options_{std::move(options)},
          clock_{options_.clock != nullptr ? *options_.clock : system_clock()} {}

    /// Publishes an event. `forbidden` when its topic belongs to another publisher; `invalid`,
    /// naming the field, when something is wrong with it. Repeating it publishes a second time.
    Result<void> publish(const Event& event) {
        const auto now = clock_.now();
        auto step = encoded(event, now);
        if (!step) return step.error();
        return without_value(perform(store_, *std::move(step), now));
    }
    void publish(const Event& event, std::function<void(Result<void>)> done) {
        const auto now = clock_.now();
        auto step = encoded(event, now);
        if (!step) return done(step.error());
        submit(store_, *std::move(step), now,
               [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
    }

    /// Publishes many events in order, sharing one trip to the store, and tells what became of
    /// each. Events that are `invalid` are left out, and do not keep back the others.
    std::vector<Result<void>> publish_many(std::span<const Event> events) {
        const auto now = clock_.now();
        auto many = encoded(events, now);
        for (std::size_t i = 0; auto& outcome : perform_all(store_, many.steps, now)) {
            many.replies[many.places[i++]] = without_value(reply_of<PublishEvent>(outcome));
        }
        return std::move(many.replies);
    }
    void publish_many(std::span<const Event> events,
                      std::function<void(std::vector<Result<void>>)> done) {
        const auto now = clock_.now();
        auto many = encoded(events, now);
        auto steps = std::move(many.steps);
        store_.submit(
            steps, now,
            [many = std::move(many), done = std::move(done)](std::span<Outcome> outcomes) mutable {
                for (std::size_t i = 0; auto& outcome : outcomes) {
                    many.replies[many.places[i++]] = without_value(reply_of<PublishEvent>(outcome));
                }
                done(std::move(many.replies));
            });
    }

    /// The handle of a subscriber, which need not exist yet.
    [[nodiscard]] Subscriber subscriber(std::string token) {
        return {store_, clock_, callbacks_, std::move(token)};
    }

    /// The handle of a publisher. What this bus asks of events is asked of its own.
    [[nodiscard]] Publisher publisher(std::string token, PublisherOptions options = {}) {
        return {*this, std::move(token), options};
    }

    /// Forgets a topic and its subscriptions. `forbidden` unless it is this publisher's; who is no
    /// publisher may forget any.
    Result<Removal> remove_topic(std::string name) {
        return perform(store_, RemoveTopic{std::move(name), options_.publisher}, clock_.now());
    }
    void remove_topic(std::string name, std::function<void(Result<Removal>)> done) {
        submit(store_, RemoveTopic{std::move(name), options_.publisher}, clock_.now(),
               std::move(done));
    }

    /// A page of the topics, by name.
    [[nodiscard]] Result<std::vector<Topic>> topics(Page page = {}) const {
        return perform(store_, ListTopics{std::move(page)}, clock_.now());
    }
    void topics(Page page, std::function<void(Result<std::vector<Topic>>)> done) const {
        submit(store_, ListTopics{std::move(page)}, clock_.now(), std::move(done));
    }

    /// A page of the subscribers, by token.
    [[nodiscard]] Result<std::vector<SubscriberStatus>> subscribers(Page page = {}) const {
        return perform(store_, ListSubscribers{std::move(page)}, clock_.now());
    }
    void subscribers(Page page,
                     std::function<void(Result<std::vector<SubscriberStatus>>)> done) const {
        submit(store_, ListSubscribers{std::move(page)}, clock_.now(), std::move(done));
    }

    /// A page of the counters, in the order of their encoded keys: the next one comes after
    /// `encode_counter_key` of the last key of this.
    [[nodiscard]] Result<std::vector<Counter>> counters(Page page = {}) const {
        return perform(store_, ListCounters{std::move(page)}, clock_.now());
    }
    void counters(Page page, std::function<void(Result<std::vector<Counter>>)> done) const {
        submit(store_, ListCounters{std::move(page)}, clock_.now(), std::move(done));
    }

    /// How many deliveries there are in which state. Those that fall due within `ahead` count as
    /// ready.
    [[nodiscard]] Result<QueueStatus> deliveries(Duration ahead = Duration{0}) const;
    void deliveries(Duration ahead, std::function<void(Result<QueueStatus>)> done) const;

    /// Succeeds when the store takes changes now, and what it took in before is as durable as it
    /// promises. Changes nothing. Of a lost reply it tells, and does not ask again.
    [[nodiscard]] Result<void> probe() const;
    void probe(std::function<void(Result<void>)> done) const;

    /// The callbacks in this process, for a `LocalTransport`.
    [[nodiscard]] Callbacks& callbacks() noexcept { return callbacks_; }

private:
    friend class Publisher;

    struct Many {
        std::vector<Step> steps;
        std::vector<std::size_t> places;  // Where the reply of each step belongs.
        std::vector<Result<void>> replies;
    };

    Result<PublishEvent> encoded(const Event& event, TimePoint now) {
        return publication(event, options_.rules, options_.publisher, options_.event_data_max,
                           uids_.next(), now);
    }

    Many encoded(std::span<const Event> events, TimePoint now) {
        Many many;
        many.replies.reserve(events.size());
        for (const auto& event : events) {
            auto step = encoded(event, now);
            if (step) {
                many.places.push_back(many.replies.size());
                many.steps.emplace_back(*std::move(step));
                many.replies.emplace_back();
            } else {
                many.replies.emplace_back(step.error());
            }
        }
        return many;
    }

    Store& store_;
    BusOptions options_;
    const Clock& clock_;
    Callbacks callbacks_;
    UidSource uids_{entropy(), entropy()};
};

}  // namespace routemaster
