/// @file
/// `ReleasedLeases`: leases that a worker releases, so that another worker can run the jobs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "routemaster/error.hpp"
#include "routemaster/job.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Queue of the releases that the store has not performed yet. Releases are submitted in chunks of
/// limited size, each after the reply to the previous chunk, because a worker may release very many
/// large jobs at once. Not thread safe.
class ReleasedLeases {
public:
    struct Released {
        Lease lease;
        TimePoint run_at;
    };

    struct Chunk {
        std::vector<Released> leases{};
        std::vector<Step> steps{};
    };

    void add(Lease lease, TimePoint run_at) { released_.push_back({std::move(lease), run_at}); }

    /// Removes and returns the next chunk. The chunk is empty when no release may be submitted now.
    /// `ruby_queue` is set for the queues of Ruby Routemaster, where jobs are released by `NackJob`
    /// instead of `ReleaseJob`.
    Chunk take(TimePoint now, bool ruby_queue);

    /// Handles the replies to a chunk. Rejected releases are submitted again after a delay. While
    /// this worker lives, no other worker can acquire these jobs. Returns an error to be logged, if
    /// the store rejected this chunk but not the previous chunk.
    std::optional<Error> replied(std::vector<Released> leases, std::vector<Outcome>& outcomes,
                                 TimePoint now);

    [[nodiscard]] bool empty() const noexcept { return released_.empty(); }
    [[nodiscard]] bool refused() const noexcept { return refusals_ > 0; }
    /// Whether the worker may not retire yet, because a release is for a later due time, or because
    /// a chunk has no reply yet. The retirement makes all jobs of the worker due at once, so
    /// releases for a later time must be performed before.
    [[nodiscard]] bool must_send(TimePoint now) const;
    [[nodiscard]] TimePoint next() const noexcept {
        return released_.empty() || sending_ ? never : send_at_;
    }

    void clear() { released_.clear(); }
    void clock_set_back(TimePoint now) { send_at_ = std::min(send_at_, now); }

private:
    std::deque<Released> released_;
    bool sending_ = false;  ///< A chunk has no reply yet.
    TimePoint send_at_{};
    std::uint32_t refusals_ = 0;
};

}  // namespace routemaster::detail
