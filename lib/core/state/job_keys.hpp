/// @file
/// Which job of a queue has which key.

#pragma once

#include <string>

#include "core/state/job_state.hpp"
#include "core/state/kept_keys.hpp"
#include "core/state/queue_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Gives keys to jobs. The index is made of the jobs themselves, so no key outlives its job, unless
/// that was done before the time of the key was over.
///
/// Not thread safe.
class JobKeys {
public:
    /// Both must outlive it.
    JobKeys(ChangeLog& changes, CounterTable& counters) : kept_{changes, counters} {}

    /// The job that excludes others of a key; null when none does.
    [[nodiscard]] static JobState* owner(const QueueState& queue, const std::string& key,
                                         TimePoint now);

    /// Gives a job its key, which none excludes it from.
    static void take(JobState& job);

    /// Takes the key from a job that is to end, or that has begun, if it has one.
    static void release(JobState& job);

    /// A job is done: its key excludes others until its time is over.
    void done(const JobState& job, TimePoint now);

    /// Gives a restored job its key, unless it had lost it. Of two, that which was pushed last has
    /// it: no push is accepted while another job excludes it.
    static void restore(JobState& job);

    /// Keys of jobs that are done.
    [[nodiscard]] KeptKeys& kept() noexcept { return kept_; }

private:
    [[nodiscard]] static JobState* find(const QueueState& queue, const std::string& key);
    [[nodiscard]] static bool has(const JobState& job);

    KeptKeys kept_;
};

}  // namespace routemaster::detail
