/// @file
/// Distribution of the file descriptors of a process among its components.

#pragma once

#include <cstdint>

#include "routemaster/log.hpp"

namespace routemaster::service {

/// Numbers of users of descriptors, per component; 0 if the process has no such component.
struct DescriptorShares {
    unsigned connections = 0;      ///< Maximum connections of clients.
    std::uint32_t deliveries = 0;  ///< Maximum deliveries in flight.
    std::uint32_t commands = 0;    ///< Maximum commands that run at once.
};

/// Reduces the numbers in `wanted` so that all fit into `limit` descriptors. First, the store, the
/// log, event loops, name lookups, and all commands get their descriptors. Deliveries get up to
/// half of the remaining descriptors, or more if connections need less than the other half.
/// Connections get the rest. Clients that only connect can thus not take descriptors from
/// deliveries. Throws `Failure` if a number would fall below its minimum.
[[nodiscard]] DescriptorShares shares_of(std::uint64_t limit, const DescriptorShares& wanted);

/// Raises the soft limit of open files to the hard limit, and returns the numbers that fit into it;
/// see `shares_of`. Logs each reduction. Throws `Failure` if the limit is too low.
[[nodiscard]] DescriptorShares claim_descriptors(const DescriptorShares& wanted, const Log& log);

}  // namespace routemaster::service
