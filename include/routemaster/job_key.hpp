/// @file
/// Keys of jobs: jobs with equal keys count as equal, whatever their arguments.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/time.hpp"

namespace routemaster {

/// Longest key of a job, in bytes.
inline constexpr std::size_t job_key_max = 256;

/// The most keys of finished jobs in a store; such keys still exclude jobs (`KeyScope::for_time`).
/// Beyond this bound, the key with the earliest end is dropped, and counted in
/// `jobs.keys_forgotten`.
inline constexpr std::size_t kept_keys_max = 100'000;

/// How long a job excludes further jobs with its key.
enum class KeyScope : std::uint8_t {
    until_done,  ///< Until the job is done, expired or deleted. A BURIED job still excludes jobs.
    until_started,  ///< Until the first attempt begins, or the job is gone.
    /// Until an instant, even if the job is done earlier; or until the job expires, or is deleted
    /// or dropped.
    for_time,
};

/// How a push treats a job in the queue that excludes the pushed job.
enum class OnDuplicate : std::uint8_t {
    keep,      ///< Changes nothing.
    replace,   ///< Gives a waiting job the arguments, options and time of the push.
    debounce,  ///< Like `replace`, but the job gets the later of the two times.
};

/// The key of a job. A queue has at most one job with a given key. A job without a key excludes the
/// jobs with equal name and arguments.
struct JobKey {
    std::string text{};  ///< Any bytes, at most `job_key_max`. Empty: no key.
    KeyScope scope = KeyScope::until_done;
    TimePoint until = never;  ///< Used only with `for_time`.

    friend bool operator==(const JobKey&, const JobKey&) = default;
};

}  // namespace routemaster
