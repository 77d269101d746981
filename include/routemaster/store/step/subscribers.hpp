/// @file
/// Steps for subscribers.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster {

/// Creates or changes a subscriber. Its topics become exactly `topics`. Unknown topics are created
/// without a publisher. Such a topic is removed with its last subscription, if no event was
/// published to it by then. Queued batches are kept, with the new settings. A wrong name or number
/// is `invalid` and changes nothing. A repetition changes nothing more.
struct Subscribe {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "subscribe",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const { return routemaster::check(token, topics, options); }

    std::string token;  ///< Must satisfy `is_user_name`.
    std::vector<std::string> topics;
    SubscribeOptions options;
};

/// Removes a subscription. Events already in batches are still delivered. A repetition after
/// success replies `not_subscribed`.
struct Unsubscribe {
    using Reply = Unsubscription;
    static constexpr StepTraits traits{.name = "unsubscribe",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    std::string topic;
};

/// Removes a subscriber and its subscriptions, and drops its DEAD batches, which counts
/// `events.dead_dropped`. Its queued batches are dropped when they become due, unless the
/// subscriber was created again by then. A repetition replies `unknown`.
struct RemoveSubscriber {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_subscriber",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
};

/// Lists the subscribers, in the order of their tokens.
struct ListSubscribers {
    using Reply = std::vector<SubscriberStatus>;
    static constexpr StepTraits traits{.name = "list_subscribers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{};
};

/// Finds a subscriber by its token. Replies nothing if none has this token.
struct FindSubscriber {
    using Reply = std::optional<SubscriberStatus>;
    static constexpr StepTraits traits{.name = "find_subscriber",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
};

/// The list of the steps for subscribers.
using SubscriberSteps =
    StepList<Subscribe, Unsubscribe, RemoveSubscriber, ListSubscribers, FindSubscriber>;

}  // namespace routemaster
