/// @file
/// Detects that the process is a forked child.

#pragma once

#include <cstdint>

namespace routemaster::detail {

/// The number of forks between the process of the first call and this process. A child increments
/// the number when `fork` returns, so a call makes no system call. Thread safe.
[[nodiscard]] std::uint32_t fork_count();

}  // namespace routemaster::detail
