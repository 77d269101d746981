/// @file
/// How many file descriptors each part of a process may open.

#pragma once

#include <cstdint>

#include "routemaster/log.hpp"

namespace routemaster::service {

/// The number of descriptors users in each part of a process; 0 when the process lacks the part.
struct DescriptorShares {
    unsigned connections = 0;      ///< Connections of clients.
    std::uint32_t deliveries = 0;  ///< Deliveries under way at once.
    std::uint32_t commands = 0;    ///< Commands that run at once.
};

/// Reduces `wanted` to `limit` descriptors. Everything else (the store, the log, event loops, name
/// lookups) and all commands come first. Of the remaining descriptors, deliveries get as many as
/// they want up to a half, or more when connections want fewer than a half. Connections get the
/// rest. Therefore clients that only connect cannot take descriptors from deliveries. Throws
/// `Failure` when a part would get fewer descriptors than its minimum.
[[nodiscard]] DescriptorShares shares_of(std::uint64_t limit, const DescriptorShares& wanted);

/// Raises the soft limit of open files to the hard limit, and returns the shares that fit into it,
/// see `shares_of`. Logs each reduction. Throws `Failure` when the limit is too low.
[[nodiscard]] DescriptorShares claim_descriptors(const DescriptorShares& wanted, const Log& log);

}  // namespace routemaster::service
