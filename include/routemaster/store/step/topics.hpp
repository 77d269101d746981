/// @file
/// Steps for topics, and the step that publishes an event.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/topic.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Publishes an event to all subscribers of its topic.
///
/// Creates the topic if it is new, and claims it for `publisher` if it is unclaimed. Appends the
/// message to the CURRENT batch of each subscriber. A subscriber without a CURRENT batch gets a new
/// batch with a delivery job, due at min(timestamp, now) + the subscriber's timeout. If a batch is
/// then full, by `max_events` or `batch_bytes_max`, it is sealed, which means that it accepts no
/// more events, and its job becomes READY. Counts `events.published`, `events.bytes` and, for each
/// subscriber, `events.added`. Errors, in this order: `unauthenticated` if `authenticate` is set
/// and `publisher` is not a valid token; `forbidden` if the topic belongs to another publisher;
/// `limit_exceeded` if the publisher would own more than `topics_max` topics. A repetition
/// publishes the event again.
///
/// With a `subscriber`, only this subscriber receives the event, regardless of its topics. The
/// topic is then only a text in the message: it is not created, claimed or counted, and no
/// permission is checked. `invalid` if the subscriber does not exist.
struct PublishEvent {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "publish_event",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    [[nodiscard]] Result<void> check() const {
        if (auto checked = check_topic(topic); !checked || !subscriber) return checked;
        if (auto checked = check_user_name("subscriber", *subscriber); !checked) return checked;
        if (!publisher) return {};
        return Error{Errc::invalid, "publisher: an event for one subscriber has none"};
    }
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return message.size(); }

    std::string topic;  ///< Must satisfy `is_topic_name`, else `invalid`.
    /// The publisher. Absent: the topic is not claimed, and must be unclaimed.
    std::optional<std::string> publisher;
    std::string message;  ///< The encoded event.
    TimePoint timestamp;  ///< When the event happened.
    Uid uid;  ///< A new id, from which the ids of new batches are derived (`Uid::sibling`).
    /// Maximum number of the publisher's topics. At the limit, no topic is claimed.
    std::uint32_t topics_max = UINT32_MAX;
    /// Whether `publisher` must be a valid token at this moment; see `PutToken`. An absent
    /// publisher is not valid.
    bool authenticate = false;
    /// The only subscriber that receives the event; `publisher` must then be absent, else
    /// `invalid`. Absent: all subscribers of the topic.
    std::optional<std::string> subscriber{};
};

/// Removes a topic and its subscriptions. Events already in batches are still delivered.
/// `forbidden` if the topic belongs to another publisher. A repetition after success replies
/// `unknown`.
struct RemoveTopic {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_topic",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
    std::optional<std::string> publisher;  ///< The publisher that removes it. Absent: the operator.
};

/// Lists the topics, in the order of their names.
struct ListTopics {
    using Reply = std::vector<Topic>;
    static constexpr StepTraits traits{.name = "list_topics",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{};
};

/// The list of the steps for topics and events.
using TopicSteps = StepList<PublishEvent, RemoveTopic, ListTopics>;

}  // namespace routemaster
