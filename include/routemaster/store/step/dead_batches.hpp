/// @file
/// Steps for DEAD batches: batches that failed permanently.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Maximum number of DEAD batches that one step redelivers or drops.
inline constexpr std::uint32_t dead_moved_max = 1'000;

/// Lists up to `limit` DEAD batches of a subscriber, the earliest death first.
struct ListDeadBatches {
    using Reply = std::vector<DeadBatchStatus>;
    static constexpr StepTraits traits{.name = "list_dead_batches",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::string token;
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
    /// Lists only batches after this batch. `invalid` if it is not DEAD any more.
    std::optional<Uid> after{};
};

/// Finds a DEAD batch of a subscriber with its messages. Replies nothing if no DEAD batch has this
/// id.
struct FindDeadBatch {
    using Reply = std::optional<DeadMessages>;
    static constexpr StepTraits traits{.name = "find_dead_batch",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    Uid batch;
};

/// Moves DEAD batches of a subscriber back to the queue: `batch`, or all in the order of their
/// deaths. Each batch becomes READY at the end of the ordering group. Its id and messages are
/// unchanged; its attempts and its age count from 0 again. A batch is skipped while its
/// delivery job exists, which can only happen if a client has pushed this job. Replies with the
/// number of batches; if this is `dead_moved_max`, more may be left. Counts
/// `events.redelivered` and `events.added`. A repetition finds no batch, unless batches became
/// DEAD again.
struct RedeliverDeadBatches {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "redeliver_dead_batches",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    std::optional<Uid> batch{};
};

/// Drops DEAD batches of a subscriber: `batch`, or all. Replies with the numbers of batches and
/// events; if `dead_moved_max` batches were dropped, more may be left. Counts
/// `events.dead_dropped`. A repetition drops batches that became DEAD in between.
struct DropDeadBatches {
    using Reply = Dropped;
    static constexpr StepTraits traits{.name = "drop_dead_batches",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    std::optional<Uid> batch{};
};

/// The list of the steps for DEAD batches.
using DeadBatchSteps =
    StepList<ListDeadBatches, FindDeadBatch, RedeliverDeadBatches, DropDeadBatches>;

}  // namespace routemaster
