/// @file
/// `CrashRecovery`: jobs whose workers died.

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

/// Releases the jobs of dead workers. Isolates jobs suspected of crashing their workers. Settles
/// restored jobs whose last attempt was cut off by the death of the process. Not thread safe.
class CrashRecovery {
public:
    /// All must outlive the object.
    CrashRecovery(ChangeLog& changes, CounterTable& counters, JobTable& jobs)
        : changes_{changes}, counters_{counters}, jobs_{jobs} {}

    /// Releases the jobs of all workers silent for `silence` or longer, and forgets these workers.
    /// After a long time without scrubs, silent workers get one grace period (`ScrubWorkers`).
    ReleasedJobs scrub(Duration silence, TimePoint now);

    /// Whether a READY job must end instead of being acquired: cancelled, expired, or without
    /// attempts left.
    [[nodiscard]] static bool must_end(const JobState& job, TimePoint now) noexcept;
    /// Ends a job for which `must_end` is true. Returns the number of jobs ended or BURIED.
    std::size_t end(JobState& job, TimePoint now);

    /// Whether a job suspected of crashing its workers must wait, because another suspect is leased
    /// and would die, too. Considers all workers of the store, as they may share a process.
    [[nodiscard]] bool must_wait(const JobState& job) const noexcept;
    /// Delays a READY job for which `must_wait` is true, by at most a second.
    void delay(JobState& job, TimePoint now);

    /// Stores the error of an attempt after the death of its process. True when the job must wait
    /// now.
    bool note_death(JobState& job, TimePoint now);

    /// To be called with each restored job that is neither BURIED nor waiting for another job.
    void restore(const JobState& job);

private:
    /// After a gap without scrubs, silent workers get one grace period.
    void spare_silent(Duration silence, TimePoint now);
    /// Whether no attempts are left.
    [[nodiscard]] static bool is_used_up(const JobState& job) noexcept {
        return job.details != nullptr && !job.details->has_attempts_left();
    }
    /// The job with this id if the job is due and either its attempts are used up, or its last
    /// attempt was cut off without a record of the error; else null.
    JobState* due_and_cut_off(const std::string& name, JobId id, TimePoint now);
    /// Handles due restored jobs whose last attempt died with its process: stores the error, and
    /// buries jobs without further attempts. Handles one chunk per call.
    void settle_cut_off(TimePoint now);
    /// When a job runs again after its attempt died with its worker: at once at first. From
    /// `isolated_deaths` deaths on there is a delay, which doubles with each death.
    [[nodiscard]] static TimePoint due_after_death(const JobState& job, TimePoint now) noexcept;

    static constexpr Duration death_wait_first{1'000};
    static constexpr Duration death_wait_max{60'000};

    ChangeLog& changes_;
    CounterTable& counters_;
    JobTable& jobs_;
    std::optional<TimePoint> scrubbed_at_;  ///< When dead workers were last searched for.
    /// Restored jobs, by queue and id, with a cut-off last attempt or without attempts left. The
    /// next scrubs empty the list.
    std::vector<std::pair<std::string, JobId>> cut_off_;
    /// Jobs buried after the death of a worker, since the last scrub.
    std::vector<BuriedJob> died_last_;
};

}  // namespace routemaster::detail
