/// @file
/// True randomness from the operating system: seeds, and nothing else.

#pragma once

#include <cstdint>

namespace routemaster {

/// 64 unpredictable bits. Thread safe.
[[nodiscard]] std::uint64_t entropy();

}  // namespace routemaster
