/// @file
/// How the free slots of a pool are shared among its queues.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routemaster/worker_pool_options.hpp"

namespace routemaster::detail {

/// Shares slots among the queues with jobs. Thread safety: none.
class SlotShares {
public:
    enum class Wish : std::uint8_t {
        nothing,  ///< Has no jobs, as far as is known.
        waits,    ///< Has an acquisition under way.
        wants,    ///< Would ask for jobs.
    };

    SlotShares(const std::vector<PoolQueue>& queues, QueueOrder order);

    /// How many free slots each queue may fill. In strict order, the first queue with jobs gets
    /// all. By weight, queues take turns (as nginx balances: "smooth weighted round robin"), and
    /// each gets its part in the long run. A queue with an acquisition under way takes part, too:
    /// its slots stay free until its reply. Otherwise the next asking queue would take this part. A
    /// queue that does not ask is given all slots, which has no effect.
    [[nodiscard]] std::vector<std::size_t> share(const std::vector<Wish>& wishes, std::size_t free);

private:
    /// The queue to get the next slot.
    [[nodiscard]] std::size_t next(const std::vector<Wish>& wishes,
                                   const std::vector<std::int64_t>& credits) const;

    QueueOrder order_;
    std::vector<std::uint32_t> weights_;
    std::vector<std::int64_t> credits_;
};

}  // namespace routemaster::detail
