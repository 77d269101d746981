/// @file
/// `FairShare`: how a dispatcher shares its delivery slots among subscribers.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace routemaster::detail {

/// Dynamic thresholds, after A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for
/// Shared-Memory Packet Switches" (1998). A subscriber may use at most a multiple of the number of
/// free slots. Greedy subscribers leave few slots free, and thereby lower the limit of all
/// subscribers. This needs no count of subscribers. Some slots are reserved for subscribers without
/// a delivery in progress.
struct FairShare {
    std::uint32_t slots;  ///< Limit of deliveries in progress.

    /// The multiple. With n greedy subscribers, each gets 8/(1 + 8n) of the unreserved slots.
    static constexpr std::uint64_t factor = 8;

    /// The number of slots reserved for subscribers without a delivery in progress.
    [[nodiscard]] std::uint32_t reserve() const noexcept { return slots / 8; }

    /// How many deliveries a subscriber may have in progress while all other deliveries use `taken`
    /// slots. At least 1, because of the reserve.
    [[nodiscard]] std::uint32_t concurrency_max(std::size_t taken) const noexcept {
        const std::uint64_t kept = taken + reserve();
        if (kept >= slots) return 1;
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(factor * (slots - kept), UINT32_MAX));
    }

    /// Whether the deliveries to unhealthy subscribers exceed their common limit.
    [[nodiscard]] bool too_many(std::size_t unhealthy) const noexcept {
        return unhealthy > slots - reserve();
    }
};

}  // namespace routemaster::detail
