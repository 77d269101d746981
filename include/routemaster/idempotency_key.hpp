/// @file
/// `IdempotencyKey`: the name of a push, by which a store recognises a repetition.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/time.hpp"

namespace routemaster {

/// Longest idempotency key, in bytes.
inline constexpr std::size_t idempotency_key_max = 256;

/// How long a store keeps the idempotency key of a push by default.
inline constexpr Duration idempotency_time_default{std::int64_t{24} * 3'600'000};

/// The longest time for which a push may ask a store to keep its idempotency key.
inline constexpr Duration idempotency_time_max{std::int64_t{7} * 24 * 3'600'000};

/// The most idempotency keys of programs in a store. Beyond this bound the key with the least time
/// left is forgotten, and counted in `jobs.idempotency_keys_forgotten`.
inline constexpr std::size_t idempotency_keys_max = 100'000;

/// The name of a push in its queue. While the key is kept, a push with an equal key changes
/// nothing, and gets the reply of the first push, even if the job has ended.
struct IdempotencyKey {
    std::string text{};  ///< Any bytes, at most `idempotency_key_max`. Empty: none.
    /// A hash of the push: a different push with this key is `invalid`.
    std::uint64_t fingerprint = 0;
    /// How long the key is kept after the push, at most `idempotency_time_max`. 0: the library drew
    /// the key for one call. Redis, whose replies may get lost, keeps such a key for as long as the
    /// library may repeat the call; other stores ignore the key.
    Duration time{0};

    friend bool operator==(const IdempotencyKey&, const IdempotencyKey&) = default;
};

}  // namespace routemaster
