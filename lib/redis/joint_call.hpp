/// @file
/// Joins several calls of one kind into one call.
///
/// With a short script, the server spends most of its time on the overhead of the call: parsing the
/// command, finding the script, and converting the arguments to Lua values. Moreover, a script for
/// a single job needs several Redis commands. A joint script often needs a single command for many
/// jobs. Therefore waiting calls of a kind on a queue are sent as a single call.

#pragma once

#include <cstddef>
#include <vector>

#include "call.hpp"

namespace routemaster::redis {

/// The largest number of calls in a joint call. A joint call must be short, because it delays all
/// further calls.
inline constexpr std::size_t joined_max = 128;
/// When the arguments of a joint call have this many bytes, no further call is added.
inline constexpr std::size_t joined_bytes_max = 64U << 10U;

/// Whether `next`, the call after `first`, can be joined with it. Both must have a joint script in
/// common, and equal common arguments.
[[nodiscard]] bool can_join(const Call& first, const Call& next) noexcept;

/// Joins calls into a single call, in their order. The script replies with a list of the replies of
/// the calls, which may be errors. If the joint call fails, each of the calls gets this error.
[[nodiscard]] Call join(Call first, std::vector<Call> further);

}  // namespace routemaster::redis
