/// @file
/// What a store says of a job, and of many.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Bytes that are kept of the error of an attempt, whole UTF-8 characters; the rest is cut off.
inline constexpr std::size_t job_error_max = 1'024;

/// Errors that are kept of a job: the last ones.
inline constexpr std::size_t job_errors_max = 10;

/// Why an attempt ended without success.
struct JobError {
    /// 1 for the first; 0 when no attempt had begun, as another job went that this one waited for.
    std::uint32_t attempt = 0;
    TimePoint at{};    ///< When it was reported.
    std::string text;  ///< At most `job_error_max` bytes.

    friend bool operator==(const JobError&, const JobError&) = default;
};

/// The error of an attempt that its worker never reported on, as it died. Also kept when a
/// `NackJob` ended the last attempt.
inline constexpr const char* unreported_error = "the attempt ended without a report";

/// From so many such ends on, a job perhaps ends its workers: it waits before its next attempt, and
/// is isolated from others like it. See `AcquireJobs` and `ScrubWorkers`.
inline constexpr std::uint32_t isolated_deaths = 2;

/// How many attempts ended so since the job was pushed or kicked, by the errors that it keeps and
/// the number of attempts that were begun.
[[nodiscard]] std::uint32_t deaths_in(const std::vector<JobError>& errors,
                                      std::uint32_t attempts) noexcept;

/// A job as it is in its queue.
struct JobStatus {
    /// Where a job is in its life.
    enum class State : std::uint8_t {
        scheduled,  ///< It waits until `run_at`.
        ready,      ///< It waits for a worker. So does a scheduled job that is due.
        pending,    ///< `worker` has it.
        buried,     ///< It was given up, and is kept until it is kicked or deleted.
    };

    JobId id = 0;
    State state = State::ready;
    std::string job;  ///< Encoded.
    JobOptions options{};
    TimePoint run_at{};                    ///< When it falls due, if SCHEDULED; else the epoch.
    std::uint32_t attempts = 0;            ///< That were begun since it was pushed or kicked.
    std::vector<JobError> errors{};        ///< The newest last, at most `job_errors_max`.
    std::optional<Uid> worker{};           ///< Set if PENDING.
    bool cancelled = false;                ///< It goes unless the attempt under way succeeds.
    std::optional<TimePoint> buried_at{};  ///< Set if BURIED.
    /// When it failed first since it was pushed or kicked, if the time that it may go on failing is
    /// limited (`RetryPolicy::time_max`).
    std::optional<TimePoint> failing_since{};
    /// Jobs that it waits for, by their ids. Only if SCHEDULED; `run_at` may have passed then.
    std::vector<JobId> after{};

    friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

/// Which jobs of a queue to list.
struct JobFilter {
    // NOLINTNEXTLINE(google-explicit-constructor): most lists ask for nothing else.
    JobFilter(JobStatus::State of, std::string called = {}, std::string among = {})
        : state{of}, name{std::move(called)}, group{std::move(among)} {}

    JobStatus::State state;
    std::string name;   ///< Only jobs of that name; empty: of any.
    std::string group;  ///< Only jobs of that ordering group; empty: of any, or none.
};

/// A part of the jobs of a queue, in the order of their ids.
struct JobPage {
    std::vector<JobStatus> jobs{};
    JobId next = 0;  ///< What to pass as `after` for what follows; 0 when nothing does.

    friend bool operator==(const JobPage&, const JobPage&) = default;
};

/// What became of the deletion of a job.
enum class Deletion {
    deleted,
    unknown,  ///< The queue has no job of that id; nothing was changed.
    pending,  ///< A worker has leased it; nothing was changed.
};

/// What became of the cancellation of a job.
enum class Cancellation {
    cancelled,  ///< It is gone.
    unknown,    ///< The queue has no job of that id; nothing was changed.
    requested,  ///< A worker has leased it, and is asked to stop.
};

}  // namespace routemaster
