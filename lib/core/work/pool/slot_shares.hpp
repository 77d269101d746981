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

    /// So many of the free slots each queue may fill. In strict order the first queue that has
    /// jobs gets all. By weight they go round, so that each queue gets its part in the long run (as
    /// nginx balances: "smooth weighted round robin"). A queue that waits for an answer takes part:
    /// slots that are its turn are kept, or whoever asks while it waits would get its part.
    /// A queue that does not ask is given all: it will not take it.
    [[nodiscard]] std::vector<std::size_t> share(const std::vector<Wish>& wishes, std::size_t free);

private:
    /// Whose turn it is.
    [[nodiscard]] std::size_t next(const std::vector<Wish>& wishes,
                                   const std::vector<std::int64_t>& credits) const;

    QueueOrder order_;
    std::vector<std::uint32_t> weights_;
    std::vector<std::int64_t> credits_;
};

}  // namespace routemaster::detail
