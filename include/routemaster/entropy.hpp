/// @file
/// Random bits from the operating system, for seeds only.

#pragma once

#include <cstdint>

namespace routemaster {

/// 64 unpredictable bits. Thread safe.
[[nodiscard]] std::uint64_t entropy();

}  // namespace routemaster
