/// @file
/// Tells a forked child from its parent.

#pragma once

#include <cstdint>

namespace routemaster::detail {

/// How often this process and its ancestors were forked since the first call. A call makes no
/// system call: a child counts once, when `fork` returns in it. Thread safe.
[[nodiscard]] std::uint32_t fork_count();

}  // namespace routemaster::detail
