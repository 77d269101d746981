/// @file
/// `LeaseTimes`: when the leases of a worker were granted.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Compact map from fences to grant times. Fences increase, and an acquisition grants its leases
/// together. One entry with the first fence of each acquisition is therefore enough.
///
/// Not thread safe.
class LeaseTimes {
public:
    /// Records that leases with this fence and greater fences were granted at `at`. Fences of
    /// successive calls must not decrease.
    void note(std::uint64_t fence, TimePoint at) {
        if (!starts_.empty() && starts_.back().at == at) return;
        starts_.push_back({fence, at});
    }

    /// When the lease with this fence was granted. A lease before the first entry gets the time of
    /// the first entry.
    [[nodiscard]] TimePoint of(std::uint64_t fence) const {
        const auto next = std::upper_bound(
            starts_.begin(), starts_.end(), fence,
            [](std::uint64_t wanted, const Start& start) { return wanted < start.fence; });
        return next == starts_.begin() ? starts_.front().at : std::prev(next)->at;
    }

    /// Whether the caller should call `keep`, because there are many more entries than `leases`
    /// leases need.
    [[nodiscard]] bool crowded(std::size_t leases) const noexcept {
        return starts_.size() > 2 * leases + 64;
    }

    /// Removes the entries that no lease needs. `each` is called with a function `f`, and must call
    /// `f` with the fences of all leases in ascending order.
    template <class Each>
    void keep(Each each) {
        std::vector<Start> needed;
        auto next = starts_.begin();
        each([&](std::uint64_t fence) {
            while (next != starts_.end() && next->fence <= fence) ++next;
            if (next == starts_.begin()) return;
            const auto& start = *std::prev(next);
            if (needed.empty() || needed.back().fence != start.fence) needed.push_back(start);
        });
        starts_ = std::move(needed);
    }

    [[nodiscard]] bool empty() const noexcept { return starts_.empty(); }

private:
    struct Start {
        std::uint64_t fence;
        TimePoint at;
    };

    std::vector<Start> starts_;
};

}  // namespace routemaster::detail
