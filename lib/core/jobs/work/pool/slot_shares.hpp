/// @file
/// `SlotShares`: distributes the free slots of a pool over its queues.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routemaster/worker_pool_options.hpp"

namespace routemaster::detail {

/// Scheduler that distributes free slots over the queues with jobs. Not thread safe.
class SlotShares {
public:
    enum class Wish : std::uint8_t {
        nothing,  ///< No jobs are expected in the queue.
        waits,    ///< An acquisition from the queue is in progress.
        wants,    ///< The queue could request jobs now.
    };

    SlotShares(const std::vector<PoolQueue>& queues, QueueOrder order);

    /// How many free slots each queue may fill. In strict order, the first queue with jobs gets all
    /// slots. By weight, slots are distributed by smooth weighted round robin (as in nginx). In the
    /// long run, each queue thus gets a share in proportion to its weight. A queue with an
    /// acquisition in progress gets a share as well. This share stays free until the reply.
    /// Otherwise the next acquisition from another queue would use it up. For a queue without an
    /// acquisition, the result is `free` and has no effect.
    [[nodiscard]] std::vector<std::size_t> share(const std::vector<Wish>& wishes, std::size_t free);

private:
    [[nodiscard]] std::size_t next(const std::vector<Wish>& wishes,
                                   const std::vector<std::int64_t>& credits) const;

    QueueOrder order_;
    std::vector<std::uint32_t> weights_;
    std::vector<std::int64_t> credits_;
};

}  // namespace routemaster::detail
