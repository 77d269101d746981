/// @file
/// Since when a worker has had its leases.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Knows since when leases last without room in each of them: as fences grow, it is enough to know
/// the first one of each acquisition.
///
/// Thread safety: none.
class LeaseTimes {
public:
    /// From this fence on, leases were granted then. No fence is less than one before.
    void note(std::uint64_t fence, TimePoint at) {
        if (!starts_.empty() && starts_.back().at == at) return;
        starts_.push_back({fence, at});
    }

    /// When the lease of a fence was granted. Of one from before all that was noted: as of the
    /// first.
    [[nodiscard]] TimePoint of(std::uint64_t fence) const {
        const auto next = std::upper_bound(
            starts_.begin(), starts_.end(), fence,
            [](std::uint64_t wanted, const Start& start) { return wanted < start.fence; });
        return next == starts_.begin() ? starts_.front().at : std::prev(next)->at;
    }

    /// Whether there is much more than so many leases need: then it is time to `keep`.
    [[nodiscard]] bool crowded(std::size_t leases) const noexcept {
        return starts_.size() > 2 * leases + 64;
    }

    /// Keeps what some leases need. `each` calls what it is passed with their fences, in order.
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
