/// @file
/// `Unique`: settings that define duplicate pushes and their effect.

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "routemaster/job_key.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Uniqueness of a pushed job: which existing jobs of the queue exclude it. An excluded push is a
/// duplicate. By default, a job excludes jobs with equal name and arguments.
///
///     jobs.push(report, {.unique = Unique::by_key("report")});
///     jobs.push(mail, {.unique = Unique::throttle("mail:42", std::chrono::hours{1})});
///     jobs.push(reindex, {.delay = std::chrono::seconds{5},
///                         .unique = Unique::debounce("reindex")});
///     jobs.push(ping, {.unique = Unique::off()});
///
/// Jobs with a key and jobs without a key never exclude each other. A push is `invalid` if it sets
/// a member that has no effect, for example `time` with `KeyScope::until_done`.
struct Unique {
    enum class By : std::uint8_t {
        job,      ///< Name and arguments.
        key,      ///< `key`; name and arguments are ignored.
        nothing,  ///< The job neither excludes jobs nor is excluded.
    };

    By by = By::job;
    std::string key{};                      ///< Used with `By::key`; 1 to `job_key_max` bytes.
    KeyScope scope = KeyScope::until_done;  ///< Used with `By::key`.
    Duration time{0};                       ///< From the push; used with `for_time`. Positive.
    OnDuplicate on_duplicate{};             ///< Used with `By::key`.

    /// Each push adds a job. If the library retries a push whose reply was lost, only one job is
    /// added.
    static Unique off() { return {.by = By::nothing}; }

    /// At most one job with this key at a time.
    static Unique by_key(std::string key, KeyScope scope = KeyScope::until_done) {
        return {.by = By::key, .key = std::move(key), .scope = scope};
    }

    /// A push replaces the waiting job with this key. While that job runs, or is BURIED, a push is
    /// a duplicate and changes nothing, unless `scope` says otherwise.
    static Unique replace(std::string key, KeyScope scope = KeyScope::until_done) {
        return {.by = By::key,
                .key = std::move(key),
                .scope = scope,
                .on_duplicate = OnDuplicate::replace};
    }

    /// A push replaces the waiting job with this key, and postpones it. With a `delay`, the job
    /// thus runs this long after the last push. A push while the job runs adds a second job.
    static Unique debounce(std::string key) {
        return {.by = By::key,
                .key = std::move(key),
                .scope = KeyScope::until_started,
                .on_duplicate = OnDuplicate::debounce};
    }

    /// A push makes further pushes with this key duplicates for `time`, so at most 1 job is pushed
    /// per `time`.
    static Unique throttle(std::string key, Duration time) {
        return {.by = By::key, .key = std::move(key), .scope = KeyScope::for_time, .time = time};
    }
};

}  // namespace routemaster
