/// @file
/// The keys of the jobs of a queue.

#pragma once

#include <string>

#include "core/state/job_state.hpp"
#include "core/state/kept_keys.hpp"
#include "core/state/queue_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Gives keys to jobs. The index consists of jobs, so a key ends with its job. When a job is done
/// before the time of its key is over, the key remains in `kept()`.
///
/// Not thread safe.
class JobKeys {
public:
    /// Both must outlive the object.
    JobKeys(ChangeLog& changes, CounterTable& counters) : kept_{changes, counters} {}

    /// The job with this key, if the key still excludes other jobs; else null.
    [[nodiscard]] static JobState* owner(const QueueState& queue, const std::string& key,
                                         TimePoint now);

    /// Gives a job its key. Another job with this key loses it.
    static void take(JobState& job);

    /// Takes the key from a job at its end or beginning. Does nothing without a key.
    static void release(JobState& job);

    /// Notes the success of a job. Its key excludes further jobs until the time of the key is over.
    void done(const JobState& job, TimePoint now);

    /// Gives a restored job its key, unless the job had lost the key. Of two jobs with a key, the
    /// later push has the key: pushes are rejected while an earlier job excludes them.
    static void restore(JobState& job);

    /// Keys of completed jobs.
    [[nodiscard]] KeptKeys& kept() noexcept { return kept_; }

private:
    [[nodiscard]] static JobState* find(const QueueState& queue, const std::string& key);
    [[nodiscard]] static bool has(const JobState& job);

    KeptKeys kept_;
};

}  // namespace routemaster::detail
