/// @file
/// A subscription: which topics a subscriber gets, where, and in what batches.

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

/// The scheme of the callback of a subscriber in the process; its token follows.
inline constexpr std::string_view local_scheme = "local:";

/// The settings that a subscriber asks for. Those left out keep their value, or begin with their
/// default; only `uuid` becomes empty, as in Ruby Routemaster.
struct SubscribeOptions {
    std::string callback;  ///< `https://…`, or `local:NAME` for a callback in the process.
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
    Duration timeout{500};  ///< From an event's publication to its batch falling due.
    /// A batch of so many, or of `batch_bytes_max` bytes, is full, and due at once.
    std::uint32_t max_events = 100;
    std::uint32_t max_in_flight = 1;  ///< 1 keeps the batches in order.

    // When a batch becomes DEAD: it no longer blocks those behind it, and is kept for a person to
    // inspect. Never, unless one of the first two is set.

    std::uint32_t attempts_max = 0;  ///< Failed attempts after which a batch is DEAD; 0: no limit.
    /// A failed attempt is the last once its batch is this old, counted from its beginning, or from
    /// its redelivery; 0: no limit.
    Duration age_max{0};
    std::uint32_t dead_max = 1'000;  ///< DEAD batches kept; beyond it the oldest are dropped.

    /// Whether batches may become DEAD. If so, a permanent failure is always the last.
    [[nodiscard]] bool dead_letters() const noexcept {
        return attempts_max > 0 || age_max > Duration{0};
    }

    friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// A subscriber as an operator sees it.
struct SubscriberStatus {
    Subscription subscription;
    std::vector<std::string> topics;   ///< In alphabetical order.
    std::uint64_t events_queued = 0;   ///< Events in batches that exist.
    std::uint64_t batches_queued = 0;  ///< Batches that exist.
    int health_points = 100;           ///< 0 to 100; see health.hpp.
    std::optional<TimePoint> last_attempted_at;
    std::uint64_t batches_dead = 0;  ///< DEAD batches; `batches_queued` does not count them.

    friend bool operator==(const SubscriberStatus&, const SubscriberStatus&) = default;
};

/// What became of an unsubscription.
enum class Unsubscription {
    unsubscribed,
    unknown_subscriber,
    unknown_topic,
    not_subscribed,
};

/// Longest `timeout` allowed: an hour.
inline constexpr Duration subscription_timeout_max{3'600'000};

/// Longer than any batch waits for its timeout or for its next attempt. One that is to wait longer
/// was put off by a clock that had run ahead, and is delivered at once.
inline constexpr Duration delivery_wait_max{3'660'000};

/// Most batches of one subscriber that may be under way at once.
inline constexpr std::uint32_t subscription_in_flight_max = 1'000;

/// Greatest `attempts_max` allowed.
inline constexpr std::uint32_t subscription_attempts_max = 1'000'000;

/// Greatest `age_max` allowed: a year.
inline constexpr Duration subscription_age_max{31'536'000'000};

/// Greatest `dead_max` allowed.
inline constexpr std::uint32_t subscription_dead_max = 10'000;

/// Longest `uuid`, in bytes: it travels in a header.
inline constexpr std::size_t uuid_length_max = 1'024;

/// Checks the numbers and the uuid of `options`. `invalid`, naming the field, when one is wrong.
[[nodiscard]] Result<void> check(const SubscribeOptions& options);

/// Checks all that a subscriber asks for but the form of its callback, which depends on the
/// transports. `invalid`, naming the field, when something is wrong.
[[nodiscard]] Result<void> check(std::string_view token, const std::vector<std::string>& topics,
                                 const SubscribeOptions& options, TopicRule rule = TopicRule::any);

}  // namespace routemaster
