/// @file
/// How the free slots of a pool are shared among its queues.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routemaster/worker_pool_options.hpp"

namespace routemaster::detail {

/// Shares slots among the queues that want jobs now. Thread safety: none.
class SlotShares {
public:
    /// What a queue is at.
    enum class Wish : std::uint8_t {
        nothing,  ///< It has no jobs, as far as is known.
        waits,    ///< It has asked for jobs.
        wants,    ///< It would ask for jobs.
    };

    SlotShares(const std::vector<PoolQueue>& queues, QueueOrder order);

    /// So many of the free slots each queue may fill. In strict order the first queue that has jobs
    /// gets all. By weight all that want jobs get their part; what does not divide goes round, so
    /// that each gets its part in the long run (as nginx balances: "smooth weighted round robin").
    /// A queue that wants nothing is given all: it will not take it.
    [[nodiscard]] std::vector<std::size_t> share(const std::vector<Wish>& wishes, std::size_t free);

private:
    [[nodiscard]] std::size_t turn(const std::vector<Wish>& wishes, std::uint64_t total);

    QueueOrder order_;
    std::vector<std::uint32_t> weights_;
    std::vector<std::int64_t> credits_;
};

}  // namespace routemaster::detail
