/// @file
/// `JobKey`: a key by which jobs are unique in a queue, regardless of their arguments.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/time.hpp"

namespace routemaster {

/// Maximum length of the key of a job, in bytes.
inline constexpr std::size_t job_key_max = 256;

/// Maximum number of keys of finished jobs in a store. These keys still exclude other jobs
/// (`KeyScope::for_time`). Beyond this limit, the key that would expire first is evicted, and
/// counted in `jobs.keys_forgotten`.
inline constexpr std::size_t kept_keys_max = 100'000;

/// How long a job excludes further jobs with its key.
enum class KeyScope : std::uint8_t {
    until_done,     ///< Until the job is done, expires or is deleted. A BURIED job excludes others.
    until_started,  ///< Until the first attempt begins, or the job is removed.
    /// Until an instant, even if the job is done earlier. Ends early if the job expires, or is
    /// deleted or dropped.
    for_time,
};

/// What a push does if an existing job in the queue excludes the pushed job.
enum class OnDuplicate : std::uint8_t {
    keep,      ///< Changes nothing.
    replace,   ///< Replaces arguments, options and time of the existing job if it waits.
    debounce,  ///< Like `replace`, but the later of the two times applies.
};

/// The uniqueness key of a job. A queue has at most one job with a given key. A job without a key
/// is unique by its name and arguments.
struct JobKey {
    std::string text{};  ///< Any bytes, at most `job_key_max`. Empty: no key.
    KeyScope scope = KeyScope::until_done;
    TimePoint until = never;  ///< Used only with `for_time`.

    friend bool operator==(const JobKey&, const JobKey&) = default;
};

}  // namespace routemaster
