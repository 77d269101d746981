/// @file
/// `Bus`: publishers push events into topics, and each subscriber gets them in ordered batches.
///
///              publish              seal (full or stale)
///     event ───────────► batch: CURRENT ───────────────► batch: READY ──► delivered | dropped

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
    /// The publisher that claims the topics of events published through this object. Without one,
    /// topics stay unclaimed, and topics of others are `forbidden`. Must satisfy `is_user_name`, or
    /// `publish` returns `invalid`.
    std::optional<std::string> publisher{};
    std::size_t event_data_max = event_data_max_default;  ///< Bytes of MessagePack.
    EventRules rules{};                                   ///< Further rules for events.
    const Clock* clock = nullptr;  ///< Null: the machine's clock. Must outlive the bus.
    /// Is warned when callbacks are subscribed and nothing calls them; see `Callbacks`.
    Log log{};
};

/// The event bus of a store. Any number of them, in any processes, may share one.
///
/// An event whose `publish` succeeded survives a crash as the store promises, and is delivered at
/// least once to every subscriber that was subscribed at that moment.
///
/// Every call exists in two forms: one waits and returns the reply, the other returns at once and
/// passes the reply to `done`: inside the call, or later from a thread of the store. `done` must
/// not block; a blocking call inside it, on a thread of a store, returns `invalid`.
///
/// Thread safety: all members may be called from any thread.
class Bus {
public:
    /// The store must outlive the bus.
    explicit Bus(Store& store, BusOptions options = {});

    /// Publishes an event. `forbidden` when its topic belongs to another publisher; `invalid`,
    /// naming the field, when something is wrong with it. Repeating it publishes a second time.
    Result<void> publish(const Event& event);
    void publish(const Event& event, std::function<void(Result<void>)> done);

    /// Publishes many events in order, in one trip to the store, and returns the result of each.
    /// Events that are `invalid` are left out, and do not stop the others.
    std::vector<Result<void>> publish_many(std::span<const Event> events);
    void publish_many(std::span<const Event> events,
                      std::function<void(std::vector<Result<void>>)> done);

    /// The handle of a subscriber, which need not exist yet.
    [[nodiscard]] Subscriber subscriber(std::string token);

    /// The handle of a publisher. The rules of this bus apply to its events.
    [[nodiscard]] Publisher publisher(std::string token, PublisherOptions options = {}) {
        return {*this, std::move(token), options};
    }

    /// Forgets a topic and its subscriptions. `forbidden` unless it belongs to this publisher; a
    /// bus without a publisher may forget any.
    Result<Removal> remove_topic(std::string name);
    void remove_topic(std::string name, std::function<void(Result<Removal>)> done);

    /// A page of the topics, by name.
    [[nodiscard]] Result<std::vector<Topic>> topics(Page page = {}) const;
    void topics(Page page, std::function<void(Result<std::vector<Topic>>)> done) const;

    /// A page of the subscribers, by token.
    [[nodiscard]] Result<std::vector<SubscriberStatus>> subscribers(Page page = {}) const;
    void subscribers(Page page,
                     std::function<void(Result<std::vector<SubscriberStatus>>)> done) const;

    /// A page of the counters, in the order of their encoded keys: the next page begins after
    /// `encode_counter_key` of the last key of this one.
    [[nodiscard]] Result<std::vector<Counter>> counters(Page page = {}) const;
    void counters(Page page, std::function<void(Result<std::vector<Counter>>)> done) const;

    /// Counts the deliveries in each state. Those that fall due within `ahead` count as ready.
    [[nodiscard]] Result<QueueStatus> deliveries(Duration ahead = Duration{0}) const;
    void deliveries(Duration ahead, std::function<void(Result<QueueStatus>)> done) const;

    /// Succeeds when the store accepts changes now, and earlier ones are as durable as it promises.
    /// Changes nothing. Does not repeat itself: a lost reply is an error.
    [[nodiscard]] Result<void> probe() const;
    void probe(std::function<void(Result<void>)> done) const;

    /// The callbacks in this process, for a `LocalTransport`.
    [[nodiscard]] Callbacks& callbacks() noexcept { return callbacks_; }

    /// Where it keeps everything.
    [[nodiscard]] Store& store() const noexcept { return store_; }

    /// The clock that it reads.
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
