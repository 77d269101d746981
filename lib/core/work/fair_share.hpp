/// @file
/// How the deliveries that a dispatcher may have under way are shared among subscribers.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace routemaster::detail {

/// Dynamic thresholds, after A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for
/// Shared-Memory Packet Switches" (1998): nobody may have more than a multiple of what is free.
/// Who takes much leaves little free, which lowers the limit of all, so nobody needs to be counted.
/// A part is kept for those who have nothing under way.
struct FairShare {
    std::uint32_t slots;  ///< Deliveries under way at once.

    /// The multiple. Of n subscribers that take all they can get, each has 8/(1 + 8n) of what is
    /// not reserved.
    static constexpr std::uint64_t factor = 8;

    /// What is kept for those who have nothing under way.
    [[nodiscard]] std::uint32_t reserve() const noexcept { return slots / 8; }

    /// How many deliveries one subscriber may have under way when others have so many slots; at
    /// least 1, which is what the reserve is for.
    [[nodiscard]] std::uint32_t concurrency_max(std::size_t taken) const noexcept {
        const std::uint64_t kept = taken + reserve();
        if (kept >= slots) return 1;
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(factor * (slots - kept), UINT32_MAX));
    }

    /// Whether so many deliveries to unhealthy subscribers are more than those may have together.
    [[nodiscard]] bool too_many(std::size_t unhealthy) const noexcept {
        return unhealthy > slots - reserve();
    }
};

}  // namespace routemaster::detail
