/// @file
/// `TimerAction`: what the store does when a timer fires that has no listener of its own.
///
///     {"push":    {"queue": "images", "name": "resize", "arguments": [42]}}
///     {"publish": {"topic": "orders", "type": "noop", "url": "https://shop.example/orders/42"}}
///     {"deliver": {"subscriber": "billing", "data": {"order": 42}}}

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "routemaster/event.hpp"
#include "routemaster/job.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// The namespace of timers with an action. A timer in this namespace must contain an action and
/// have retries; else posting the timer is `invalid`. Only an `ActionRunner` may listen to this
/// namespace.
inline constexpr std::string_view action_space = "routemaster.actions";

/// The default topic of an event for one subscriber.
inline constexpr std::string_view action_topic = "timers";

/// Pushes a job. Its `delay` begins when the timer fires.
struct PushAction {
    std::string queue;
    Job job;
    /// Must be without `after`, because a follow-up of a timer waits for no job. `bytes_max` is not
    /// stored.
    PushOptions options{};
};

/// Publishes an event. Without a timestamp, the event's timestamp is the time when the timer fires.
struct PublishAction {
    Event event;
    std::optional<std::string> publisher{};  ///< As in `PublicationOptions`, like the next two.
    bool authenticate = false;
    std::uint32_t topics_max = UINT32_MAX;
};

/// Delivers an event to one subscriber, whatever topics it has subscribed to. The event is added to
/// the subscriber's queue, with the usual order, retries, health and DEAD batches. With this
/// action, a timer calls a webhook. The topic is only a text in the event: no right to the topic is
/// needed, and no further subscriber receives the event.
struct DeliverAction {
    std::string subscriber;
    Event event;
};

/// The action of a timer.
using TimerAction = std::variant<PushAction, PublishAction, DeliverAction>;

/// The name of an action: `push`, `publish` or `deliver`.
[[nodiscard]] std::string_view action_word(const TimerAction& action) noexcept;

/// The payload of a timer with this action: a map as in the examples above. Settings equal to their
/// defaults are left out.
[[nodiscard]] Value to_value(const TimerAction& action);

/// The action in a payload. If the payload is not an action, or has an unknown field, the error is
/// `invalid` and names the field. An event for one subscriber may leave out its topic
/// (`action_topic`) and its type (`noop`). Whether the action is allowed is checked by
/// `ActionTimers::check`.
[[nodiscard]] Result<TimerAction> timer_action(const Value& payload);

}  // namespace routemaster
