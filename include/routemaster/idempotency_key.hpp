/// @file
/// `IdempotencyKey`: the key by which a store recognises a repeated push.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/time.hpp"

namespace routemaster {

/// Maximum length of an idempotency key, in bytes.
inline constexpr std::size_t idempotency_key_max = 256;

/// The default time for which a store retains the idempotency key of a push.
inline constexpr Duration idempotency_time_default{std::int64_t{24} * 3'600'000};

/// The maximum time for which a store retains an idempotency key.
inline constexpr Duration idempotency_time_max{std::int64_t{7} * 24 * 3'600'000};

/// Maximum number of idempotency keys from programs in a store. Beyond this limit, the key that
/// would expire first is evicted, and counted in `jobs.idempotency_keys_forgotten`.
inline constexpr std::size_t idempotency_keys_max = 100'000;

/// Identifies a push within its queue. Until the key expires, a push with an equal key changes
/// nothing, and returns the reply to the first push, even if the job no longer exists.
struct IdempotencyKey {
    std::string text{};  ///< Any bytes, at most `idempotency_key_max`. Empty: none.
    /// A hash of the push; a different push with this key is `invalid`.
    std::uint64_t fingerprint = 0;
    /// Time from the push to the key's expiry, at most `idempotency_time_max`. 0: the library
    /// generated the key for one call. Redis, whose replies may get lost, retains such a key for as
    /// long as the library may retry the call; other stores ignore the key.
    Duration time{0};

    friend bool operator==(const IdempotencyKey&, const IdempotencyKey&) = default;
};

}  // namespace routemaster
