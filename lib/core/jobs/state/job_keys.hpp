/// @file
/// `JobKeys`: the keys of the jobs of a queue. A key excludes further jobs with an equal key.

#pragma once

#include <string>

#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "core/state/kept_keys.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Assigns keys to jobs. The key index of a queue contains the jobs themselves, so a key disappears
/// with its job. If a job is completed before its key expires, the key remains in `kept()`.
///
/// Not thread safe.
class JobKeys {
public:
    /// `changes` and `counters` must outlive the object.
    JobKeys(ChangeLog& changes, CounterTable& counters) : kept_{changes, counters} {}

    /// The job with this key, if the key has not expired and still excludes other jobs; otherwise
    /// null.
    [[nodiscard]] static JobState* owner(const QueueState& queue, const std::string& key,
                                         TimePoint now);

    /// Assigns a job its key. Another job with this key loses the key.
    static void take(JobState& job);

    /// Removes the key of a job when the job ends or, with the scope `until_started`, when it
    /// begins. Does nothing without a key.
    static void release(JobState& job);

    /// Records that a job was completed. Its key continues to exclude jobs until the key expires.
    void done(const JobState& job, TimePoint now);

    /// Assigns a restored job its key, unless another job has taken the key. Of two jobs with one
    /// key, the later push has the key, because a push is rejected while an earlier job still has
    /// the key.
    static void restore(JobState& job);

    [[nodiscard]] KeptKeys& kept() noexcept { return kept_; }

private:
    [[nodiscard]] static JobState* find(const QueueState& queue, const std::string& key);
    [[nodiscard]] static bool has(const JobState& job);

    KeptKeys kept_;
};

}  // namespace routemaster::detail
