/// @file
/// Joint calls: a script runs several calls of its kind.
///
/// For a short script, the server spends most of its time on the call itself: the server parses the
/// command, looks the script up, and converts the arguments to Lua values. Besides, a script for
/// one job runs a Redis command for each detail, where a joint script runs one command for many
/// jobs. Therefore calls of one kind on one queue become a single call, if all wait to be sent.

#pragma once

#include <cstddef>
#include <vector>

#include "call.hpp"

namespace routemaster::redis {

/// The maximum number of calls in a joint call: few enough to delay further calls only briefly.
inline constexpr std::size_t joined_max = 128;
/// No further call joins when the arguments have this many bytes.
inline constexpr std::size_t joined_bytes_max = 64U << 10U;

/// Whether `next`, sent directly after `first`, can join `first`: both have one joint script and
/// equal common arguments.
[[nodiscard]] bool can_join(const Call& first, const Call& next) noexcept;

/// Makes one call of all these calls, in their order. Its script replies a list with the reply of
/// each call, possibly an error. When the joint call fails, each call gets its error.
[[nodiscard]] Call join(Call first, std::vector<Call> further);

}  // namespace routemaster::redis
