/// @file
/// The steps that end a job, or a firing of a timer, together with what follows from it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/timer_firings.hpp"
#include "routemaster/step/timers.hpp"
#include "routemaster/step/topics.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster {

/// Pushes, publications and timers that may follow from one job together, and their bytes: those of
/// the jobs, their metadata, the encoded events and the payloads. One step does all of them, so
/// they bound for how long others wait for it.
inline constexpr std::size_t follow_ups_max = 1'000;
inline constexpr std::size_t follow_up_bytes_max = 4'194'304;

/// `invalid` when that many follow-ups, of so many bytes together, are too much for one job.
[[nodiscard]] Result<void> check_follow_ups(std::size_t count, std::size_t bytes);

/// What became of a `CompleteJob`.
struct Completed {
    Settlement settlement = Settlement::settled;  ///< `settled` or `lease_lost`.
    /// What became of each push, in their order; of none when the lease is lost.
    std::vector<Pushed> pushed{};
    std::vector<TimerPosted> posted{};  ///< The same of each timer.

    friend bool operator==(const Completed&, const Completed&) = default;
};

/// Forgets a job that was done, as `AckJob` does, then pushes jobs, then publishes events, then
/// posts timers: all of it, or nothing.
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
    /// At most `follow_ups_max` with the others, and `follow_up_bytes_max`, else `invalid`; so is a
    /// push into `delivery_queue`, or with `after`.
    std::vector<PushJob> pushes{};
    std::vector<PublishEvent> publications{};
    std::vector<PostTimer> timers{};
};

/// What became of a `CompleteTimer`.
struct CompletedTimer {
    TimerConfirmed confirmation = TimerConfirmed::confirmed;
    /// What became of each push, in their order; of none when the firing is `unknown`.
    std::vector<Pushed> pushed{};
    std::vector<TimerPosted> posted{};  ///< The same of each timer.

    friend bool operator==(const CompletedTimer&, const CompletedTimer&) = default;
};

/// Forgets a FIRED timer, as `ConfirmTimer` does, then pushes jobs, then publishes events, then
/// posts timers, maybe one of the same id: all of it, or nothing.
///
/// When no such firing waits for it, nothing happens; nor when one of the publications would be
/// refused: see `CompleteJob`. Repeating one that succeeded answers `unknown`, and does nothing
/// twice.
struct CompleteTimer {
    using Reply = CompletedTimer;
    static constexpr StepTraits traits{.name = "complete_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    [[nodiscard]] Result<void> check() const;
    [[nodiscard]] std::size_t payload_bytes() const noexcept;

    std::string space;
    std::string id;
    std::uint32_t retries = 0;  ///< Which firing: its `FiredTimer::retries`.
    /// As in `CompleteJob`.
    std::vector<PushJob> pushes{};
    std::vector<PublishEvent> publications{};
    std::vector<PostTimer> timers{};
    std::optional<std::int64_t> firing{};  ///< As in `ConfirmTimer`.
};

/// The steps that end something together with what follows from it.
using CompletionSteps = StepList<CompleteJob, CompleteTimer>;

}  // namespace routemaster
