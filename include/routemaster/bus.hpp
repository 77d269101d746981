/// @file
/// `Bus`: publishes events to topics, and delivers them to each subscriber in ordered batches.
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
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/subscriber.hpp"
#include "routemaster/time.hpp"
#include "routemaster/topic.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Settings of a `Bus`.
struct BusOptions {
    /// The publisher that claims the topics of events published through this object. Without a
    /// publisher, topics stay unclaimed, and publishing to a topic that belongs to a publisher is
    /// `forbidden`. Must satisfy `is_user_name`, else `publish` returns `invalid`.
    std::optional<std::string> publisher{};
    std::size_t event_data_max = event_data_max_default;  ///< In bytes of MessagePack.
    EventRules rules{};                                   ///< Further validation rules for events.
    const Clock* clock = nullptr;  ///< Null: the machine's clock. Must outlive the bus.
    /// Receives a warning when callbacks are subscribed but nothing calls them; see `Callbacks`.
    Log log{};
};

/// Façade for the event bus of a store. Several `Bus` objects and processes may share a store.
///
/// A published event is as durable as the store promises. It is delivered at least once to every
/// subscriber that was subscribed to its topic when `publish` succeeded.
///
/// Each call has two forms. The blocking form waits and returns the reply. The asynchronous form
/// returns at once and passes the reply to `done`, inside the call or later on a thread of the
/// store. `done` must not block: on a thread of a store, a blocking call inside `done` returns
/// `invalid`.
///
/// Thread safety: all members may be called from any thread.
class Bus {
public:
    /// The store must outlive the bus.
    explicit Bus(Store& store, BusOptions options = {});

    /// Publishes an event. Returns `forbidden` when the topic belongs to another publisher. Returns
    /// `invalid`, naming the field, when the event is malformed. Repeating the call publishes the
    /// event again.
    Result<void> publish(const Event& event);
    void publish(const Event& event, std::function<void(Result<void>)> done);

    /// Publishes events in order, in one round trip to the store. Returns one result per event. An
    /// `invalid` event is skipped, and the remaining events are published.
    std::vector<Result<void>> publish_many(std::span<const Event> events);
    void publish_many(std::span<const Event> events,
                      std::function<void(std::vector<Result<void>>)> done);

    /// Returns a handle for a subscriber. The subscriber need not exist yet.
    [[nodiscard]] Subscriber subscriber(std::string token);

    /// Returns a handle for a publisher. The options of this bus apply to its events.
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

    /// Counts the deliveries by state. A delivery that is due within `ahead` counts as
    /// READY.
    [[nodiscard]] Result<QueueStatus> deliveries(Duration ahead = Duration{0}) const;
    void deliveries(Duration ahead, std::function<void(Result<QueueStatus>)> done) const;

    /// Health check: succeeds when the store accepts changes now, and earlier changes are as
    /// durable as the store promises. Changes nothing. Not retried, so a lost reply is an error.
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
