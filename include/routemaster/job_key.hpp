/// @file
/// Keys of jobs: jobs that have the same one count as the same, whatever their arguments.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "routemaster/time.hpp"

namespace routemaster {

/// Longest key of a job, in bytes.
inline constexpr std::size_t job_key_max = 256;

/// Keys of jobs that are done, of a store, which still exclude others (`KeyScope::for_time`).
/// Beyond that, the one that would end first ends, counted in `jobs.keys_forgotten`.
inline constexpr std::size_t kept_keys_max = 100'000;

/// For how long a job excludes others of its key.
enum class KeyScope : std::uint8_t {
    until_done,     ///< Until it is gone: done, expired or deleted. A BURIED job is still there.
    until_started,  ///< Until its first attempt begins, or it is gone.
    for_time,       ///< Until an instant, though it is done by then; or until it expires, or is
                    ///< deleted or dropped.
};

/// What a push does when another job excludes it.
enum class OnDuplicate : std::uint8_t {
    keep,      ///< Nothing.
    replace,   ///< A job that waits gets the arguments, the options and the time of the push.
    debounce,  ///< The same, and of the two times it gets the later.
};

/// The key of a job. At most one job of a queue has it; what has none is one of its kind by its
/// bytes.
struct JobKey {
    std::string text{};  ///< Any bytes, at most `job_key_max`. Empty: none.
    KeyScope scope = KeyScope::until_done;
    TimePoint until = never;  ///< Read with `for_time`.

    friend bool operator==(const JobKey&, const JobKey&) = default;
};

}  // namespace routemaster
