/// @file
/// `TimerAction`: what happens when a timer fires that nobody listens for.
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

/// The namespace of timers with an action. Its timers carry actions and have retries, else posting
/// one is `invalid`; and none but an `ActionRunner` may listen to it.
inline constexpr std::string_view action_space = "routemaster.actions";

/// The topic of an event for one subscriber, unless its action names another.
inline constexpr std::string_view action_topic = "timers";

/// Pushes a job. Its `delay` begins when the timer fires.
struct PushAction {
    std::string queue;
    Job job;
    /// Without `after`, as what follows from a timer waits for no job; `bytes_max` is not kept.
    PushOptions options{};
};

/// Publishes an event. Without a timestamp it happened when the timer fires.
struct PublishAction {
    Event event;
    std::optional<std::string> publisher{};  ///< As in `PublicationOptions`; so are the others.
    bool authenticate = false;
    std::uint32_t topics_max = UINT32_MAX;
};

/// Hands an event to one subscriber, whatever topics it has: as one more event of its queue, with
/// the order, retries, health and DEAD batches of any. So it is how a timer becomes a webhook. The
/// topic is a word in the event: nobody needs a right in it, and other subscribers get nothing.
struct DeliverAction {
    std::string subscriber;
    Event event;
};

/// What a timer does.
using TimerAction = std::variant<PushAction, PublishAction, DeliverAction>;

/// What an action is called: `push`, `publish` or `deliver`.
[[nodiscard]] std::string_view action_word(const TimerAction& action) noexcept;

/// The payload of a timer with that action: a map as above. What is as by default is left out.
[[nodiscard]] Value to_value(const TimerAction& action);

/// The action of a payload. `invalid`, naming the field, when it is none, or has a field that is
/// not known. An event for one subscriber may leave out its topic (`action_topic`) and its type
/// (`noop`). Whether it can be done, `ActionTimers::check` knows.
[[nodiscard]] Result<TimerAction> timer_action(const Value& payload);

}  // namespace routemaster
