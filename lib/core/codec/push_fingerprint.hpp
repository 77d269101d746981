/// @file
/// The content of a push as a number.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/push_options.hpp"

namespace routemaster::detail {

/// A hash of an encoded job and its options, equal in all processes and versions, because stores
/// keep the hash.
[[nodiscard]] std::uint64_t push_fingerprint(std::string_view job, const PushOptions& options);

}  // namespace routemaster::detail
