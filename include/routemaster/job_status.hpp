/// @file
/// The state of a job in its store, and pages of jobs.

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

/// How many bytes of an attempt's error are kept, in whole UTF-8 characters; the rest is cut off.
inline constexpr std::size_t job_error_max = 1'024;

/// How many errors of a job are kept: the last ones.
inline constexpr std::size_t job_errors_max = 10;

/// Why an attempt ended without success.
struct JobError {
    /// 1 for the first attempt. 0 when no attempt had begun, because a job for which this job
    /// waited went without success.
    std::uint32_t attempt = 0;
    TimePoint at{};    ///< When the error was reported.
    std::string text;  ///< At most `job_error_max` bytes.

    friend bool operator==(const JobError&, const JobError&) = default;
};

/// The error of an attempt whose worker died without a report. Also kept when a `NackJob` ended the
/// last attempt.
inline constexpr const char* unreported_error = "the attempt ended without a report";

/// A job with at least this many attempts that ended without a report may be the cause of its
/// workers' deaths. The job then waits before its next attempt, and the workers of a process run
/// only one such job at a time. See `AcquireJobs` and `ScrubWorkers`.
inline constexpr std::uint32_t isolated_deaths = 2;

/// How many attempts ended without a report since the job was pushed or kicked, computed from its
/// kept errors and the number of begun attempts.
[[nodiscard]] std::uint32_t deaths_in(const std::vector<JobError>& errors,
                                      std::uint32_t attempts) noexcept;

/// A job as its queue keeps it.
struct JobStatus {
    /// The state of a job.
    enum class State : std::uint8_t {
        scheduled,  ///< The job waits until `run_at`.
        ready,      ///< The job waits for a worker; also a scheduled job that is due.
        pending,    ///< The worker `worker` has the job.
        buried,     ///< The job was given up, and is kept until a kick or a deletion.
    };

    JobId id = 0;
    State state = State::ready;
    std::string job;  ///< Encoded.
    JobOptions options{};
    TimePoint run_at{};              ///< When the job falls due, if SCHEDULED; else the epoch.
    std::uint32_t attempts = 0;      ///< Attempts begun since the job was pushed or kicked.
    std::vector<JobError> errors{};  ///< The newest last, at most `job_errors_max`.
    std::optional<Uid> worker{};     ///< Set if PENDING.
    bool cancelled = false;          ///< The job is dropped unless its attempt succeeds.
    std::optional<TimePoint> buried_at{};  ///< Set if BURIED.
    /// When the job first failed after it was pushed or kicked. Set only if a retry policy limits
    /// how long the job may go on failing (`RetryPolicy::time_max`).
    std::optional<TimePoint> failing_since{};
    /// The ids of the jobs for which this job waits. Only if SCHEDULED; `run_at` may then have
    /// passed.
    std::vector<JobId> after{};

    friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

/// Which jobs of a queue to list.
struct JobFilter {
    // NOLINTNEXTLINE(google-explicit-constructor): most lists ask for nothing else.
    JobFilter(JobStatus::State of, std::string called = {}, std::string among = {})
        : state{of}, name{std::move(called)}, group{std::move(among)} {}

    JobStatus::State state;
    std::string name;   ///< Only jobs with this name; empty: any name.
    std::string group;  ///< Only jobs of this ordering group; empty: with any group or no group.
};

/// A page of the jobs of a queue, in the order of their ids.
struct JobPage {
    std::vector<JobStatus> jobs{};
    JobId next = 0;  ///< Pass it as `after` to get the next page; 0 on the last page.

    friend bool operator==(const JobPage&, const JobPage&) = default;
};

/// How the deletion of a job ended.
enum class Deletion {
    deleted,
    unknown,  ///< No job has this id; nothing was changed.
    pending,  ///< A worker has leased the job; nothing was changed.
};

/// How the cancellation of a job ended.
enum class Cancellation {
    cancelled,  ///< The job was removed.
    unknown,    ///< No job has this id; nothing was changed.
    requested,  ///< A worker has leased the job, and is asked to stop.
};

}  // namespace routemaster
