/// @file
/// Steps that complete a job, or confirm a timer, and perform its follow-ups (jobs, events and
/// timers to be added) in one transaction.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/jobs.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/store/step/timers.hpp"
#include "routemaster/store/step/topics.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster {

/// Limits for the follow-ups of a job: the number of pushes, publications and timers together, and
/// their bytes (jobs, metadata, encoded events and payloads). One step performs all follow-ups, so
/// the limits bound how long this step delays other steps.
inline constexpr std::size_t follow_ups_max = 1'000;
inline constexpr std::size_t follow_up_bytes_max = 4'194'304;

/// `invalid` if this number of follow-ups, or their bytes together, exceed a limit.
[[nodiscard]] Result<void> check_follow_ups(std::size_t count, std::size_t bytes);

/// The reply to `CompleteJob`.
struct Completed {
    Settlement settlement = Settlement::settled;  ///< `settled` or `lease_lost`.
    /// The reply to each push, in order; empty if the lease is lost.
    std::vector<Pushed> pushed{};
    std::vector<TimerPosted> posted{};  ///< The reply to each timer post, in order.

    friend bool operator==(const Completed&, const Completed&) = default;
};

/// Completes a job, as `AckJob` does, then pushes jobs, then publishes events, then posts timers,
/// all in one transaction.
///
/// Changes nothing if the lease is lost. Also changes nothing if a publication fails: the error is
/// that of `PublishEvent`, preceded by the index of the publication. When the pushes are performed,
/// the completed job no longer exists and excludes no push, unless its key has not expired yet. A
/// push that is a `duplicate` changes nothing, and does not affect the other follow-ups. A
/// repetition after success replies `lease_lost`, and performs nothing twice.
struct CompleteJob {
    using Reply = Completed;
    static constexpr StepTraits traits{.name = "complete_job",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    [[nodiscard]] Result<void> check() const;
    [[nodiscard]] std::size_t payload_bytes() const noexcept;

    Lease lease;
    /// Together with the next two, at most `follow_ups_max` entries and `follow_up_bytes_max`
    /// bytes, else `invalid`. A push into `delivery_queue`, or with `after`, is `invalid`.
    std::vector<PushJob> pushes{};
    std::vector<PublishEvent> publications{};
    std::vector<PostTimer> timers{};
};

/// The reply to `CompleteTimer`.
struct CompletedTimer {
    TimerConfirmed confirmation = TimerConfirmed::confirmed;
    /// The reply to each push, in order; empty if the firing is `unknown`.
    std::vector<Pushed> pushed{};
    std::vector<TimerPosted> posted{};  ///< The reply to each timer post, in order.

    friend bool operator==(const CompletedTimer&, const CompletedTimer&) = default;
};

/// Confirms a FIRED timer, as `ConfirmTimer` does, then pushes jobs, then publishes events, then
/// posts timers, possibly with the timer's id, all in one transaction.
///
/// Changes nothing if the firing does not await confirmation, or if a publication fails:
/// see `CompleteJob`. A repetition after success replies `unknown`, and performs nothing
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
    std::uint32_t retries = 0;  ///< Identifies the firing: its `FiredTimer::retries`.
    /// As in `CompleteJob`.
    std::vector<PushJob> pushes{};
    std::vector<PublishEvent> publications{};
    std::vector<PostTimer> timers{};
    std::optional<std::int64_t> firing{};  ///< As in `ConfirmTimer`.
};

/// The list of the steps that complete a job or a timer with its follow-ups.
using CompletionSteps = StepList<CompleteJob, CompleteTimer>;

}  // namespace routemaster
