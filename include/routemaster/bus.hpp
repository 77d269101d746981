/// @file
/// `Bus`: publishers push events into topics, and each subscriber gets them in ordered batches.
///
///              publish              seal (full or stale)
///     event ───────────► batch: CURRENT ───────────────► batch: READY ──► delivered | dropped
///
/// For the states of a batch, see batch.hpp.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "routemaster/callbacks.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/event.hpp"
#include "routemaster/job.hpp"
#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/publisher.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/store.hpp"
#include "routemaster/subscriber.hpp"
#include "routemaster/time.hpp"
#include "routemaster/topic.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Settings of a `Bus`.
struct BusOptions {
    /// The publisher that claims the topics of events published through this object. Without a
    /// publisher, topics stay unclaimed, and an event in a topic that belongs to a publisher is
    /// `forbidden`. Must satisfy `is_user_name`, else `publish` returns `invalid`.
    std::optional<std::string> publisher{};
    std::size_t event_data_max = event_data_max_default;  ///< Bytes of MessagePack.
    EventRules rules{};                                   ///< Further rules for events.
    const Clock* clock = nullptr;  ///< Null: the machine's clock. Must outlive the bus.
    /// Gets a warning when callbacks are subscribed and nothing calls them; see `Callbacks`.
    Log log{};
};

/// The event bus of a store. Several `Bus` objects, also in several processes, may share a store.
///
/// Once `publish` has succeeded, the event is as durable as the store promises. The event is
/// delivered at least once to every subscriber that was subscribed to its topic at that moment.
///
/// Each call has a blocking form, which waits and returns the reply, and an asynchronous form,
/// which returns at once and passes the reply to `done`. `done` is called inside the call, or later
/// on a thread of the store. `done` must not block: on a thread of a store, a blocking call inside
/// `done` returns `invalid`.
///
/// Thread safety: all members may be called from any thread.
class Bus {
public:
    /// The store must outlive the bus.
    explicit Bus(Store& store, BusOptions options = {});

    /// Publishes an event. `forbidden` when the topic belongs to another publisher; `invalid`,
    /// naming the field, when the event is malformed. A repeated call publishes the event a second
    /// time.
    Result<void> publish(const Event& event);
    void publish(const Event& event, std::function<void(Result<void>)> done);

    /// Publishes events in order, in one trip to the store, and returns the result of each event.
    /// An `invalid` event is left out, and does not stop the rest.
    std::vector<Result<void>> publish_many(std::span<const Event> events);
    void publish_many(std::span<const Event> events,
                      std::function<void(std::vector<Result<void>>)> done);

    /// A handle of a subscriber. The subscriber need not exist yet.
    [[nodiscard]] Subscriber subscriber(std::string token);

    /// A handle of a publisher. The rules of this bus apply to events published by the handle.
    [[nodiscard]] Publisher publisher(std::string token, PublisherOptions options = {}) {
        return {*this, std::move(token), options};
    }

    /// Removes a topic and its subscriptions. `forbidden` unless the topic belongs to the publisher
    /// of this bus. A bus without a publisher may remove any topic.
    Result<Removal> remove_topic(std::string name);
    void remove_topic(std::string name, std::function<void(Result<Removal>)> done);

    /// A page of the topics, in the order of their names.
    [[nodiscard]] Result<std::vector<Topic>> topics(Page page = {}) const;
    void topics(Page page, std::function<void(Result<std::vector<Topic>>)> done) const;

    /// A page of the subscribers, in the order of their tokens.
    [[nodiscard]] Result<std::vector<SubscriberStatus>> subscribers(Page page = {}) const;
    void subscribers(Page page,
                     std::function<void(Result<std::vector<SubscriberStatus>>)> done) const;

    /// A page of the counters, in the order of their encoded keys. The next page begins after
    /// `encode_counter_key` of the last key of this page.
    [[nodiscard]] Result<std::vector<Counter>> counters(Page page = {}) const;
    void counters(Page page, std::function<void(Result<std::vector<Counter>>)> done) const;

    /// Counts the deliveries in each state. A delivery that falls due within `ahead` counts as
    /// READY.
    [[nodiscard]] Result<QueueStatus> deliveries(Duration ahead = Duration{0}) const;
    void deliveries(Duration ahead, std::function<void(Result<QueueStatus>)> done) const;

    /// Succeeds when the store accepts changes now and earlier changes are as durable as the store
    /// promises. Changes nothing. The library does not repeat this call: a lost reply is an error.
    [[nodiscard]] Result<void> probe() const;
    void probe(std::function<void(Result<void>)> done) const;

    /// The callbacks registered in this process, for a `LocalTransport`.
    [[nodiscard]] Callbacks& callbacks() noexcept { return callbacks_; }

    /// The store of this bus.
    [[nodiscard]] Store& store() const noexcept { return store_; }

    /// The clock of this bus.
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

private:
    friend class Publisher;

    struct Many;

    Result<PublishEvent> encoded(const Event& event, TimePoint now);
    Many encoded(std::span<const Event> events, TimePoint now);

    Store& store_;
    BusOptions options_;
    const Clock& clock_;
    Callbacks callbacks_;
    UidSource uids_;
};

}  // namespace routemaster
