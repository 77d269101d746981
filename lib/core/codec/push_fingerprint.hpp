/// @file
/// A hash over the content of a push.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/push_options.hpp"

namespace routemaster::detail {

/// A hash of an encoded job and its options. The hash must be equal in all processes and versions,
/// because stores retain it.
[[nodiscard]] std::uint64_t push_fingerprint(std::string_view job, const PushOptions& options);

}  // namespace routemaster::detail
