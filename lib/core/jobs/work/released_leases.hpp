/// @file
/// `ReleasedLeases`: leases that a worker gives up without an end of the job.

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

/// The releases that a store has not performed yet. Releases are sent in chunks, each after the
/// reply to the previous chunk: a worker may release very many large jobs at once. Not thread safe.
class ReleasedLeases {
public:
    struct Released {
        Lease lease;
        TimePoint run_at;
    };

    /// The leases of a chunk, and the steps that release the leases.
    struct Chunk {
        std::vector<Released> leases{};
        std::vector<Step> steps{};
    };

    void add(Lease lease, TimePoint run_at) { released_.push_back({std::move(lease), run_at}); }

    /// The next chunk; without steps when there is nothing to send now. In Ruby Routemaster's
    /// queues a release is a nack.
    Chunk take(TimePoint now, bool ruby_queue);

    /// To be called with the replies to a chunk. Leases whose release the store refused are sent
    /// again after a delay: no other worker can get these jobs while this worker lives. Returns the
    /// first error when the store did not refuse the chunk before.
    std::optional<Error> replied(std::vector<Released> leases, std::vector<Outcome>& outcomes,
                                 TimePoint now);

    [[nodiscard]] bool empty() const noexcept { return released_.empty(); }
    /// Whether the store refused the last chunk.
    [[nodiscard]] bool refused() const noexcept { return refusals_ > 0; }
    /// Whether some release must be sent before the worker retires: retirement makes jobs run at
    /// once.
    [[nodiscard]] bool must_send(TimePoint now) const;
    /// When to take the next chunk.
    [[nodiscard]] TimePoint next() const noexcept {
        return released_.empty() || sending_ ? never : send_at_;
    }

    void clear() { released_.clear(); }
    void clock_set_back(TimePoint now) { send_at_ = std::min(send_at_, now); }

private:
    std::deque<Released> released_;
    bool sending_ = false;  ///< A chunk has no reply yet.
    TimePoint send_at_{};   ///< Earliest next try after a refusal.
    std::uint32_t refusals_ = 0;
};

}  // namespace routemaster::detail
