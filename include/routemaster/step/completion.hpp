/// @file
/// The step that ends a job together with what follows from it.

#pragma once

#include <cstddef>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/topics.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster {

/// Pushes and publications that may follow from one job together, and their bytes: those of the
/// jobs, their metadata and the encoded events. One step does all of them, so they bound for how
/// long others wait for it.
inline constexpr std::size_t follow_ups_max = 1'000;
inline constexpr std::size_t follow_up_bytes_max = 4'194'304;

/// `invalid` when that many follow-ups, of so many bytes together, are too much for one job.
[[nodiscard]] Result<void> check_follow_ups(std::size_t count, std::size_t bytes);

/// What became of a `CompleteJob`.
struct Completed {
    Settlement settlement = Settlement::settled;  ///< `settled` or `lease_lost`.
    /// What became of each push, in their order; of none when the lease is lost.
    std::vector<Pushed> pushed{};

    friend bool operator==(const Completed&, const Completed&) = default;
};

/// Forgets a job that was done, as `AckJob` does, then pushes jobs, then publishes events: all of
/// it, or nothing.
///
/// When the lease is lost nothing happens. When one of the publications would be refused, nothing
/// happens either, and the error is that of `PublishEvent`, with its place in front. A push meets
/// the jobs that are left: the job that was done excludes none, unless its key does so for a time;
/// a push that finds a `duplicate` changes nothing, and hinders no other.
/// Repeating one that succeeded answers `lease_lost`, and does nothing twice.
struct CompleteJob {
    using Reply = Completed;
    static constexpr StepTraits traits{.name = "complete_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    [[nodiscard]] Result<void> check() const;
    [[nodiscard]] std::size_t payload_bytes() const noexcept;

    Lease lease;
    /// At most `follow_ups_max` with `publications`, and `follow_up_bytes_max`, else `invalid`; so
    /// is a push into `delivery_queue`, or with `after`.
    std::vector<PushJob> pushes{};
    std::vector<PublishEvent> publications{};
};

/// The step that ends a job together with what follows from it.
using CompletionSteps = StepList<CompleteJob>;

}  // namespace routemaster
