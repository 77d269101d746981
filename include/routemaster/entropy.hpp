/// @file
/// True randomness from the operating system: seeds, and nothing else.

#pragma once

#include <cstdint>
#include <random>

namespace routemaster {

/// 64 bits that nobody can foretell. Thread safe.
[[nodiscard]] inline std::uint64_t entropy() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace routemaster
