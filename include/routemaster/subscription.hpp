/// @file
/// `Subscription`: the topics, the callback and the delivery settings of a subscriber.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/names.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// The scheme of a callback in a process, as in `local:NAME`. NAME is the name under which a
/// process has registered the callback in its `Callbacks`. Any non-empty NAME is accepted.
/// `Subscriber::subscribe` with a handler uses the token of the subscriber as NAME.
inline constexpr std::string_view local_scheme = "local:";

/// Settings for a subscriber. An absent setting keeps its value, or gets its default in a new
/// subscriber. Exception: `uuid` has no absent value; as in Ruby Routemaster, an empty `uuid`
/// replaces the old value.
struct SubscribeOptions {
    std::string callback;  ///< `https://…`, or `local:NAME` for a callback in a process.
    /// The user name that deliveries present: UTF-8 without control characters, at most 1,024
    /// bytes. May be empty.
    std::string uuid{};
    std::optional<Duration> timeout{};          ///< How long a batch may wait; 0 to 3,600,000 ms.
    std::optional<std::uint32_t> max_events{};  ///< Events that fill a batch; at least 1.
    std::optional<std::uint32_t> max_in_flight{};  ///< Batches under way at once; 1 to 1,000.
    std::optional<std::uint32_t> attempts_max{};   ///< See `Subscription`; 0 to 1,000,000.
    std::optional<Duration> age_max{};             ///< See `Subscription`; 0 to a year.
    std::optional<std::uint32_t> dead_max{};       ///< See `Subscription`; 1 to 10,000.
};

/// Where and how a subscriber's batches are delivered, as stored.
struct Subscription {
    std::string token;  ///< The subscriber.
    std::string callback;
    std::string uuid;
    Duration timeout{500};  ///< Time from an event's publication until its batch falls due.
    /// A batch with this many events, or with `batch_bytes_max` bytes, is full, and due at once.
    std::uint32_t max_events = 100;
    std::uint32_t max_in_flight = 1;  ///< 1 keeps the batches in order.

    // The next three settings decide when a batch becomes DEAD: it then no longer blocks the
    // batches behind it, and is kept for a person to inspect. Unless one of the first two is set,
    // no batch becomes DEAD.

    std::uint32_t attempts_max = 0;  ///< Failed attempts after which a batch is DEAD; 0: no limit.
    /// An attempt that fails is the last if the batch is this old, counted from its beginning or
    /// from its redelivery; 0: no limit.
    Duration age_max{0};
    /// How many DEAD batches are kept; beyond it the oldest are dropped.
    std::uint32_t dead_max = 1'000;

    /// Whether batches may become DEAD. If they may, a batch becomes DEAD at its first permanent
    /// failure.
    [[nodiscard]] bool dead_letters() const noexcept {
        return attempts_max > 0 || age_max > Duration{0};
    }

    friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// A subscriber as an operator sees it.
struct SubscriberStatus {
    Subscription subscription;
    std::vector<std::string> topics;   ///< In alphabetical order.
    std::uint64_t events_queued = 0;   ///< Events in queued batches.
    std::uint64_t batches_queued = 0;  ///< Batches that wait, or are under way.
    int health_points = 100;           ///< 0 to 100; see health.hpp.
    std::optional<TimePoint> last_attempted_at;
    std::uint64_t batches_dead = 0;  ///< DEAD batches; `batches_queued` does not count them.

    friend bool operator==(const SubscriberStatus&, const SubscriberStatus&) = default;
};

/// The result of an unsubscription.
enum class Unsubscription {
    unsubscribed,
    unknown_subscriber,
    unknown_topic,
    not_subscribed,
};

/// Longest `timeout` allowed: an hour.
inline constexpr Duration subscription_timeout_max{3'600'000};

/// An upper bound for how long a batch waits for its timeout or for its next attempt. If the due
/// time of a batch is further away, then the clock had run ahead when it was set, and the batch is
/// delivered at once.
inline constexpr Duration delivery_wait_max{3'660'000};

/// How many batches of one subscriber may be under way at once, at most.
inline constexpr std::uint32_t subscription_in_flight_max = 1'000;

/// Greatest `attempts_max` allowed.
inline constexpr std::uint32_t subscription_attempts_max = 1'000'000;

/// Greatest `age_max` allowed: a year.
inline constexpr Duration subscription_age_max{31'536'000'000};

/// Greatest `dead_max` allowed.
inline constexpr std::uint32_t subscription_dead_max = 10'000;

/// Longest `uuid`, in bytes. Bounded because the `uuid` is sent in an HTTP header.
inline constexpr std::size_t uuid_length_max = 1'024;

/// Checks the numbers and the uuid of `options`. If a field is wrong, the error is `invalid` and
/// names it.
[[nodiscard]] Result<void> check(const SubscribeOptions& options);

/// Checks all settings of a subscription except the form of its callback, which depends on the
/// transports. If a field is wrong, the error is `invalid` and names it.
[[nodiscard]] Result<void> check(std::string_view token, const std::vector<std::string>& topics,
                                 const SubscribeOptions& options, TopicRule rule = TopicRule::any);

}  // namespace routemaster
