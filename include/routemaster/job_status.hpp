/// @file
/// `JobStatus`: a job and its state, as stored. `JobPage`: a page of jobs.

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

/// Maximum bytes of an attempt's stored error. A longer error is truncated after a whole character.
inline constexpr std::size_t job_error_max = 1'024;

/// Maximum number of stored errors of a job. Only the last errors are stored.
inline constexpr std::size_t job_errors_max = 10;

/// Why an attempt ended without success.
struct JobError {
    /// 1 for the first attempt. 0 if no attempt began, because a job on which this job depends
    /// ended without success.
    std::uint32_t attempt = 0;
    TimePoint at{};    ///< When the error was reported.
    std::string text;  ///< At most `job_error_max` bytes.

    friend bool operator==(const JobError&, const JobError&) = default;
};

/// The stored error of an attempt that ended without a report: its worker crashed, or it was the
/// last attempt, and a `NackJob` ended it.
inline constexpr const char* unreported_error = "the attempt ended without a report";

/// A job with at least this many unreported attempts may have crashed its workers. Such a job waits
/// before its next attempt, and the workers of a process run only one such job at a time. See
/// `AcquireJobs` and `ScrubWorkers`.
inline constexpr std::uint32_t isolated_deaths = 2;

/// Number of attempts without a report since the job was pushed or kicked, computed from its stored
/// errors and the number of begun attempts.
[[nodiscard]] std::uint32_t deaths_in(const std::vector<JobError>& errors,
                                      std::uint32_t attempts) noexcept;

/// A job and its state, as stored.
struct JobStatus {
    /// The state of a job.
    enum class State : std::uint8_t {
        scheduled,  ///< The job waits until `run_at`.
        ready,      ///< The job waits for a worker; also a scheduled job that is due.
        pending,    ///< A worker has leased the job; see `worker`.
        buried,     ///< The job failed permanently; it waits for a kick or a deletion.
    };

    JobId id = 0;
    State state = State::ready;
    std::string job;  ///< Encoded by `encode_job`.
    JobOptions options{};
    TimePoint run_at{};                    ///< The due time if SCHEDULED; else the Unix epoch.
    std::uint32_t attempts = 0;            ///< Attempts begun since the job was pushed or kicked.
    std::vector<JobError> errors{};        ///< Errors of the last attempts, the newest last.
    std::optional<Uid> worker{};           ///< The worker that has leased the job, if PENDING.
    bool cancelled = false;                ///< The job is dropped unless its attempt succeeds.
    std::optional<TimePoint> buried_at{};  ///< When the job became BURIED.
    /// When the job first failed after it was pushed or kicked. Absent unless the retry policy
    /// limits the time for retries (`RetryPolicy::time_max`).
    std::optional<TimePoint> failing_since{};
    /// The ids of the jobs on which this job still depends. Not empty only if SCHEDULED; `run_at`
    /// may then be in the past.
    std::vector<JobId> after{};

    friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

/// Selects jobs of a queue by state, and optionally by name or group.
struct JobFilter {
    // NOLINTNEXTLINE(google-explicit-constructor): most callers filter only by state.
    JobFilter(JobStatus::State of, std::string called = {}, std::string among = {})
        : state{of}, name{std::move(called)}, group{std::move(among)} {}

    JobStatus::State state;
    std::string name;   ///< Only jobs with this name; empty: any name.
    std::string group;  ///< Only jobs of this ordering group; empty: with any group or no group.
};

/// A page of the jobs of a queue, in the order of their ids.
struct JobPage {
    std::vector<JobStatus> jobs{};
    JobId next = 0;  ///< Pass this as `after` to get the next page; 0 on the last page.

    friend bool operator==(const JobPage&, const JobPage&) = default;
};

/// The reply to the deletion of a job.
enum class Deletion {
    deleted,
    unknown,  ///< No job has this id; nothing was changed.
    pending,  ///< A worker has leased the job; nothing was changed.
};

/// The reply to the cancellation of a job.
enum class Cancellation {
    cancelled,  ///< The job was removed.
    unknown,    ///< No job has this id; nothing was changed.
    requested,  ///< A worker has leased the job, and its stop was requested.
};

}  // namespace routemaster
