/// @file
/// `TimerAction`: an action that the store performs when a timer without a listener fires.
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
/// have retries; otherwise posting it is `invalid`. Only an `ActionRunner` may listen to this
/// namespace.
inline constexpr std::string_view action_space = "routemaster.actions";

/// The default topic of an event for one subscriber.
inline constexpr std::string_view action_topic = "timers";

/// Pushes a job. Its `delay` counts from the firing of the timer.
struct PushAction {
    std::string queue;
    Job job;
    /// `after` must be empty, because a follow-up of a timer cannot depend on jobs. `bytes_max` is
    /// not stored.
    PushOptions options{};
};

/// Publishes an event. An absent timestamp stands for the time at which the timer fires.
struct PublishAction {
    Event event;
    std::optional<std::string> publisher{};  ///< This and the next two: as in `PublicationOptions`.
    bool authenticate = false;
    std::uint32_t topics_max = UINT32_MAX;
};

/// Delivers an event to one subscriber, regardless of its topics; this is how a timer calls a
/// webhook. The event is appended to the subscriber's queue, so the usual order, retries, health
/// and DEAD batches apply. The topic is only a text in the event. It needs no permission, and no
/// other subscriber receives the event.
struct DeliverAction {
    std::string subscriber;
    Event event;
};

/// The action of a timer.
using TimerAction = std::variant<PushAction, PublishAction, DeliverAction>;

/// Returns the name of an action: `push`, `publish` or `deliver`.
[[nodiscard]] std::string_view action_word(const TimerAction& action) noexcept;

/// Encodes an action as the payload of a timer: a map as in the examples above. Settings equal to
/// their defaults are omitted.
[[nodiscard]] Value to_value(const TimerAction& action);

/// Decodes the action in a payload. If the payload is not an action, or has an unknown field, the
/// error is `invalid` and names the field. An event for one subscriber may omit its topic (default
/// `action_topic`) and its type (default `noop`). Whether the action is allowed is checked by
/// `ActionTimers::check`.
[[nodiscard]] Result<TimerAction> timer_action(const Value& payload);

}  // namespace routemaster
