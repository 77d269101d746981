/// @file
/// Steps about topics, and the one that takes an event in.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/topic.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Takes in one event for all subscribers of its topic.
///
/// Creates the topic when it is new, and claims it for `publisher` when it is unclaimed. Appends
/// the message to the CURRENT batch of each subscriber, beginning one where there is none together
/// with its delivery job, which falls due at min(timestamp, now) + the subscriber's timeout. A
/// batch that is thereby full, by `max_events` or `batch_bytes_max`, is sealed, and its job is
/// READY.
/// Counts `events.published`, `events.bytes` and, for each subscriber, `events.added`.
/// In this order: `unauthenticated` when it is to authenticate `publisher` and that is no valid
/// token; `forbidden` when the topic belongs to another publisher; `limit_exceeded` when it would
/// be one too many of `publisher`. Repeating it publishes the event a second time.
///
/// With a `subscriber` it is an event for that one alone, whatever topics that has; its own topic
/// is a word in the message, which is neither created, claimed nor counted, and in which nobody
/// needs a right. `invalid` when there is no such subscriber.
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
    /// Who publishes. Nobody: the topic is not claimed, and must be unclaimed.
    std::optional<std::string> publisher;
    std::string message;  ///< The encoded event.
    TimePoint timestamp;  ///< When it happened.
    Uid uid;              ///< Fresh; batches that begin are named by its siblings.
    /// Topics that may belong to `publisher`: a further one is not claimed.
    std::uint32_t topics_max = UINT32_MAX;
    /// Whether `publisher` must be a valid token at this moment; see `PutToken`. Nobody is none.
    bool authenticate = false;
    /// Who alone gets it; then without a `publisher`, else `invalid`. Absent: all subscribers of
    /// the topic.
    std::optional<std::string> subscriber{};
};

/// Forgets a topic and its subscriptions. Events already in batches are delivered all the same.
/// `forbidden` for a publisher whose topic it is not. Repeating a removal that succeeded answers
/// `unknown`.
struct RemoveTopic {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_topic",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string name;
    std::optional<std::string> publisher;  ///< Who asks; nobody stands for the operator.
};

/// Lists the topics, by name.
struct ListTopics {
    using Reply = std::vector<Topic>;
    static constexpr StepTraits traits{.name = "list_topics",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{};
};

/// The steps about topics and events.
using TopicSteps = StepList<PublishEvent, RemoveTopic, ListTopics>;

}  // namespace routemaster
