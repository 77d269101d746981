/// @file
/// Calls that travel together.
///
/// Most of what a short script costs the server is not what it does, but that it is called: a
/// command has to be parsed, its script looked up, its arguments made Lua's. And what it does takes
/// a command each for a job, where the server has commands for many. So calls of one kind, on the
/// same queue, that wait to be sent at the same time become one call of a script for several.

#pragma once

#include <cstddef>
#include <vector>

#include "call.hpp"

namespace routemaster::redis {

/// How many may travel together: few enough that others are hardly kept waiting.
inline constexpr std::size_t joined_max = 128;
/// The bytes of arguments beyond which no further call joins.
inline constexpr std::size_t joined_bytes_max = 64U << 10U;

/// Whether the second can travel with the first, right behind it: one script runs both, and they
/// have the same in common.
[[nodiscard]] bool can_join(const Call& first, const Call& next) noexcept;

/// One call for all of them, in their order. Its script replies a list, with what each would have
/// got alone, which may be an error; any other outcome is that of each.
[[nodiscard]] Call join(Call first, std::vector<Call> further);

}  // namespace routemaster::redis
