/// @file
/// Derives the idempotency key of each push from the key of a call with many pushes.

#pragma once

#include <cstddef>
#include <string>

namespace routemaster::detail {

/// The idempotency key of the job at index `place`, in a call with the idempotency key `key`. Empty
/// if the call has no key.
[[nodiscard]] inline std::string key_at(const std::string& key, std::size_t place) {
    return key.empty() ? key : key + "[" + std::to_string(place) + "]";
}

}  // namespace routemaster::detail
