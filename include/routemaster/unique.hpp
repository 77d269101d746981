/// @file
/// `Unique`: which pushes are duplicates, and what happens to a duplicate.

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "routemaster/job_key.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Which jobs of a queue exclude each other: if an existing job excludes a push, the push is a
/// duplicate. By default, jobs with equal name and arguments exclude each other.
///
///     jobs.push(report, {.unique = Unique::by_key("report")});
///     jobs.push(mail, {.unique = Unique::throttle("mail:42", std::chrono::hours{1})});
///     jobs.push(reindex, {.delay = std::chrono::seconds{5},
///                         .unique = Unique::debounce("reindex")});
///     jobs.push(ping, {.unique = Unique::off()});
///
/// Jobs with a key and jobs without a key never exclude each other. A push is `invalid` if it sets
/// a member that its other members leave unread, for example `time` with `KeyScope::until_done`.
struct Unique {
    enum class By : std::uint8_t {
        job,      ///< Name and arguments.
        key,      ///< `key`, whatever the name and arguments are.
        nothing,  ///< The job excludes no job, and no job excludes it.
    };

    By by = By::job;
    std::string key{};                      ///< Read with `By::key`; 1 to `job_key_max` bytes.
    KeyScope scope = KeyScope::until_done;  ///< Read with `By::key`.
    Duration time{0};            ///< Counted from the push; read with `for_time`. Positive.
    OnDuplicate on_duplicate{};  ///< Read with `By::key`.

    /// Each push makes a new job. If the reply to a push is lost, the repetition makes no second
    /// job.
    static Unique off() { return {.by = By::nothing}; }

    /// At most one job with this key at a time.
    static Unique by_key(std::string key, KeyScope scope = KeyScope::until_done) {
        return {.by = By::key, .key = std::move(key), .scope = scope};
    }

    /// The last push wins: a waiting job with this key is replaced. While the job runs, or is
    /// BURIED, a push is a duplicate and changes nothing, unless `scope` says otherwise.
    static Unique replace(std::string key, KeyScope scope = KeyScope::until_done) {
        return {.by = By::key,
                .key = std::move(key),
                .scope = scope,
                .on_duplicate = OnDuplicate::replace};
    }

    /// Each push replaces the waiting job with this key and postpones it: with a `delay`, the job
    /// runs this long after the last push. A push while the job runs makes a second job.
    static Unique debounce(std::string key) {
        return {.by = By::key,
                .key = std::move(key),
                .scope = KeyScope::until_started,
                .on_duplicate = OnDuplicate::debounce};
    }

    /// The first push wins: for `time` after this push, further pushes with this key are
    /// duplicates. At most 1 job is pushed per `time`.
    static Unique throttle(std::string key, Duration time) {
        return {.by = By::key, .key = std::move(key), .scope = KeyScope::for_time, .time = time};
    }
};

}  // namespace routemaster
