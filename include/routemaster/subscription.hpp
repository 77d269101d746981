/// @file
/// `Subscription`: topics, callback and delivery settings of a subscriber.

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

/// URL scheme of a callback in a process, as in `local:NAME`. NAME is the name under which a
/// process registers the callback in its `Callbacks`. Any non-empty NAME is accepted.
/// `Subscriber::subscribe` with a handler uses the token of the subscriber as NAME.
inline constexpr std::string_view local_scheme = "local:";

/// Settings of a subscriber. An absent setting is unchanged, or has its default in a new
/// subscriber. Exception: `uuid` cannot be absent. As in Ruby Routemaster, an empty `uuid` replaces
/// the old value.
struct SubscribeOptions {
    std::string callback;  ///< `https://…`, or `local:NAME` for a callback in a process.
    /// The user name that a delivery sends: UTF-8 without control characters, at most 1,024 bytes.
    /// May be empty.
    std::string uuid{};
    std::optional<Duration> timeout{};             ///< See `Subscription`; 0 to 3,600,000 ms.
    std::optional<std::uint32_t> max_events{};     ///< See `Subscription`; at least 1.
    std::optional<std::uint32_t> max_in_flight{};  ///< Maximum batches in flight; 1 to 1,000.
    std::optional<std::uint32_t> attempts_max{};   ///< See `Subscription`; 0 to 1,000,000.
    std::optional<Duration> age_max{};             ///< See `Subscription`; 0 to a year.
    std::optional<std::uint32_t> dead_max{};       ///< See `Subscription`; 1 to 10,000.
};

/// The settings for the delivery of a subscriber's batches, as stored.
struct Subscription {
    std::string token;  ///< The token of the subscriber.
    std::string callback;
    std::string uuid;
    Duration timeout{500};  ///< Time from a batch's first event until the batch is due.
    /// A batch with this many events, or with `batch_bytes_max` bytes, is full, and due at once.
    std::uint32_t max_events = 100;
    std::uint32_t max_in_flight = 1;  ///< With 1, batches arrive in order.

    // The next three settings decide when a batch becomes DEAD. A DEAD batch does not block the
    // batches behind it, and is stored for inspection. Unless `attempts_max` or `age_max` is set,
    // no batch becomes DEAD.

    std::uint32_t attempts_max = 0;  ///< Failed attempts after which a batch is DEAD; 0: unlimited.
    /// If an attempt fails when the batch is this old, counted from its first event or its
    /// redelivery, the batch becomes DEAD; 0: no limit.
    Duration age_max{0};
    /// Maximum number of DEAD batches. Beyond this limit the oldest are dropped.
    std::uint32_t dead_max = 1'000;

    /// Whether batches may become DEAD. If so, a permanent failure makes a batch DEAD at the first
    /// attempt.
    [[nodiscard]] bool dead_letters() const noexcept {
        return attempts_max > 0 || age_max > Duration{0};
    }

    friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// A subscriber and its state, for operators.
struct SubscriberStatus {
    Subscription subscription;
    std::vector<std::string> topics;   ///< In alphabetical order.
    std::uint64_t events_queued = 0;   ///< Events in queued batches.
    std::uint64_t batches_queued = 0;  ///< Batches that wait, or are in flight.
    int health_points = 100;           ///< 0 to 100; see health.hpp.
    std::optional<TimePoint> last_attempted_at;
    std::uint64_t batches_dead = 0;  ///< DEAD batches; `batches_queued` does not count them.

    friend bool operator==(const SubscriberStatus&, const SubscriberStatus&) = default;
};

/// The reply to the removal of a subscription.
enum class Unsubscription {
    unsubscribed,
    unknown_subscriber,
    unknown_topic,
    not_subscribed,
};

/// Maximum `timeout`: an hour.
inline constexpr Duration subscription_timeout_max{3'600'000};

/// Upper bound for the wait of a batch for its timeout or its next attempt. If a batch is due later
/// than this from now, its due time was computed while the clock was ahead, and the batch is
/// delivered at once.
inline constexpr Duration delivery_wait_max{3'660'000};

/// Maximum number of batches of one subscriber in flight.
inline constexpr std::uint32_t subscription_in_flight_max = 1'000;

/// Maximum `attempts_max`.
inline constexpr std::uint32_t subscription_attempts_max = 1'000'000;

/// Maximum `age_max`: a year.
inline constexpr Duration subscription_age_max{31'536'000'000};

/// Maximum `dead_max`.
inline constexpr std::uint32_t subscription_dead_max = 10'000;

/// Maximum length of `uuid`, in bytes. Bounded because the `uuid` is sent in an HTTP header.
inline constexpr std::size_t uuid_length_max = 1'024;

/// Validates the numbers and the `uuid` of `options`. If a field is wrong, the error is `invalid`
/// and names the field.
[[nodiscard]] Result<void> check(const SubscribeOptions& options);

/// Validates all settings of a subscription except the form of its callback, which depends on the
/// transports. If a field is wrong, the error is `invalid` and names the field.
[[nodiscard]] Result<void> check(std::string_view token, const std::vector<std::string>& topics,
                                 const SubscribeOptions& options, TopicRule rule = TopicRule::any);

}  // namespace routemaster
