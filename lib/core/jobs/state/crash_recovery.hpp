/// @file
/// `CrashRecovery`: what happens to jobs whose workers died.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/leases.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

class JobTable;

/// Recovery from crashes of workers. Releases the jobs of dead workers. Isolates jobs that are
/// suspected of crashing their workers. Handles restored jobs whose last attempt ended with a crash
/// of the process. Not thread safe.
class CrashRecovery {
public:
    /// All arguments must outlive the object.
    CrashRecovery(ChangeLog& changes, CounterTable& counters, JobTable& jobs)
        : changes_{changes}, counters_{counters}, jobs_{jobs} {}

    /// Releases the jobs of all workers that have been silent for `silence` or longer, and removes
    /// these workers. After a long time without a scrub, silent workers get one grace period
    /// (`ScrubWorkers`).
    ReleasedJobs scrub(Duration silence, TimePoint now);

    /// Whether a READY job must be removed or buried instead of being acquired, because it is
    /// cancelled, has expired or has no attempts left.
    [[nodiscard]] static bool must_end(const JobState& job, TimePoint now) noexcept;
    /// Removes or buries a job for which `must_end` is true. Returns the number of jobs removed or
    /// BURIED.
    std::size_t end(JobState& job, TimePoint now);

    /// Whether a job suspected of crashing its workers must wait, because another suspect is leased
    /// and a crash would end both. Considers all workers of the store, because they may share a
    /// process.
    [[nodiscard]] bool must_wait(const JobState& job) const noexcept;
    /// Delays a READY job for which `must_wait` is true, by at most a second.
    void delay(JobState& job, TimePoint now);

    /// Stores the error of an attempt that ended with the death of its process. True when the job
    /// must wait before its next attempt.
    bool note_death(JobState& job, TimePoint now);

    /// Notes a restored job for the next scrubs if its last attempt was cut off, or if it has no
    /// attempts left. To be called with each restored job that is neither BURIED nor waiting for
    /// another job.
    void restore(const JobState& job);

private:
    /// After a long time without a scrub, grants silent workers one grace period.
    void spare_silent(Duration silence, TimePoint now);
    [[nodiscard]] static bool is_used_up(const JobState& job) noexcept {
        return job.details != nullptr && !job.details->has_attempts_left();
    }
    /// The job with this id if it is due, and if its attempts are used up or a crash ended its last
    /// attempt without recording the error. Otherwise null.
    JobState* due_and_cut_off(const std::string& name, JobId id, TimePoint now);
    /// Handles due restored jobs whose last attempt ended with a crash of the process: stores the
    /// error, and buries jobs without further attempts. Handles a limited number of jobs per call.
    void settle_cut_off(TimePoint now);
    /// When a job is due again after its attempt ended with the death of its worker. The first
    /// deaths cause no delay. From `isolated_deaths` deaths on there is a delay, which doubles with
    /// each death.
    [[nodiscard]] static TimePoint due_after_death(const JobState& job, TimePoint now) noexcept;

    static constexpr Duration death_wait_first{1'000};
    static constexpr Duration death_wait_max{60'000};

    ChangeLog& changes_;
    CounterTable& counters_;
    JobTable& jobs_;
    std::optional<TimePoint> scrubbed_at_;  ///< When the last search for dead workers ran.
    /// Restored jobs, by queue and id, whose last attempt a crash ended, or that have no attempts
    /// left. The next scrubs process and empty the list.
    std::vector<std::pair<std::string, JobId>> cut_off_;
    /// Jobs buried since the last scrub because their workers died.
    std::vector<BuriedJob> died_last_;
};

}  // namespace routemaster::detail
