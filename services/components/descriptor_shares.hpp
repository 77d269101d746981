/// @file
/// How many file descriptors each part of a process may open.

#pragma once

#include <cstdint>

#include "routemaster/log.hpp"

namespace routemaster::service {

/// The parts of a process that open descriptors by the number; 0 for a part that it does not have.
struct DescriptorShares {
    unsigned connections = 0;      ///< Of clients.
    std::uint32_t deliveries = 0;  ///< Under way at once.
    std::uint32_t commands = 0;    ///< Run at once.
};

/// The parts of `wanted` that fit into `limit` descriptors. First comes a reserve for everything
/// else (the store, the log, event loops, name lookups) and for all commands. Of what is left
/// deliveries get what they want up to a half, or more when connections want less; connections get
/// the rest. So clients that only connect take no descriptor from a delivery. Throws `Failure` when
/// a part would get fewer than it needs to work at all.
[[nodiscard]] DescriptorShares shares_of(std::uint64_t limit, const DescriptorShares& wanted);

/// Raises the soft limit of the process to its hard limit, and returns the parts that fit into it.
/// Logs what was cut. Throws `Failure` when the limit is too low.
[[nodiscard]] DescriptorShares claim_descriptors(const DescriptorShares& wanted, const Log& log);

}  // namespace routemaster::service
