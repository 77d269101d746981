/// @file
/// `IdempotencyKey`: the name of a push, by which a repetition of it is recognised.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/time.hpp"

namespace routemaster {

/// Longest idempotency key, in bytes.
inline constexpr std::size_t idempotency_key_max = 256;

/// How long a store keeps the idempotency key of a push unless the push says otherwise.
inline constexpr Duration idempotency_time_default{std::int64_t{24} * 3'600'000};

/// How long a push may let its idempotency key be kept.
inline constexpr Duration idempotency_time_max{std::int64_t{7} * 24 * 3'600'000};

/// Idempotency keys of programs in a store, at most. Beyond this bound the key with the least time
/// left is forgotten, and counted in `jobs.idempotency_keys_forgotten`.
inline constexpr std::size_t idempotency_keys_max = 100'000;

/// The name of a push in its queue. While it is kept, a push of the same name changes nothing, and
/// has the reply of the first, whatever became of the job.
struct IdempotencyKey {
    std::string text{};             ///< Any bytes, at most `idempotency_key_max`. Empty: none.
    std::uint64_t fingerprint = 0;  ///< Of the push: a different push of the key is `invalid`.
    /// How long the key is kept from the push on, at most `idempotency_time_max`. 0: the library
    /// drew the key for one call. Redis, whose replies may get lost, keeps the key for as long as
    /// the library may repeat the call; other stores ignore the key.
    Duration time{0};

    friend bool operator==(const IdempotencyKey&, const IdempotencyKey&) = default;
};

}  // namespace routemaster
