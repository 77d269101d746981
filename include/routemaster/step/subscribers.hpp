/// @file
/// Steps about subscribers and what is queued for them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster {

/// Creates or changes a subscriber. Its topics become exactly `topics`; unknown ones are created
/// unclaimed, and forgotten with their last subscription if nobody published in them by then.
/// Batches already queued are kept, and follow the new settings.
/// Bad names or numbers answer `invalid` and change nothing. Repeating it changes nothing more.
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

/// Ends one subscription. Events already in batches are delivered all the same.
/// Repeating one that succeeded answers `not_subscribed`.
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

/// Forgets a subscriber and its subscriptions, and drops its DEAD batches, which counts
/// `events.dead_dropped`. Its other batches end, undelivered, when they fall due, unless it has
/// subscribed again by then. Repeating it answers `unknown`.
struct RemoveSubscriber {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "remove_subscriber",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
};

/// Lists the subscribers, by token.
struct ListSubscribers {
    using Reply = std::vector<SubscriberStatus>;
    static constexpr StepTraits traits{.name = "list_subscribers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{};
};

/// Finds one subscriber; nothing when there is none of that token.
struct FindSubscriber {
    using Reply = std::optional<SubscriberStatus>;
    static constexpr StepTraits traits{.name = "find_subscriber",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
};

/// The steps about subscribers.
using SubscriberSteps =
    StepList<Subscribe, Unsubscribe, RemoveSubscriber, ListSubscribers, FindSubscriber>;

}  // namespace routemaster
