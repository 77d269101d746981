/// @file
/// When the leases of a worker were granted.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The times of leases, without memory per lease: fences grow, so the first fence of each
/// acquisition is enough.
///
/// Thread safety: none.
class LeaseTimes {
public:
    /// Notes that leases from this fence on were granted at `at`. Fences of successive calls must
    /// not decrease.
    void note(std::uint64_t fence, TimePoint at) {
        if (!starts_.empty() && starts_.back().at == at) return;
        starts_.push_back({fence, at});
    }

    /// When the lease with this fence was granted. Leases before all notes get the time of the
    /// first note.
    [[nodiscard]] TimePoint of(std::uint64_t fence) const {
        const auto next = std::upper_bound(
            starts_.begin(), starts_.end(), fence,
            [](std::uint64_t wanted, const Start& start) { return wanted < start.fence; });
        return next == starts_.begin() ? starts_.front().at : std::prev(next)->at;
    }

    /// Whether there are many more entries than `leases` leases need. If true, call `keep`.
    [[nodiscard]] bool crowded(std::size_t leases) const noexcept {
        return starts_.size() > 2 * leases + 64;
    }

    /// Keeps only the entries some leases need. `each` is called with a function, and must call
    /// this function with the fences of these leases, in order.
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
