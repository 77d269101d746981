/// @file
/// `Unique`: which pushes count as the same, and what becomes of the second.

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "routemaster/job_key.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Which jobs of a queue exclude each other, as a push asks for it. By default those of equal name
/// and arguments, for as long as one of them exists.
///
///     jobs.push(report, {.unique = Unique::by_key("report")});
///     jobs.push(mail, {.unique = Unique::throttle("mail:42", std::chrono::hours{1})});
///     jobs.push(reindex, {.delay = std::chrono::seconds{5},
///                         .unique = Unique::debounce("reindex")});
///     jobs.push(ping, {.unique = Unique::off()});
///
/// Jobs with a key and jobs without one never exclude each other.
struct Unique {
    enum class By : std::uint8_t {
        job,      ///< Name and arguments.
        key,      ///< `key`, whatever name and arguments are.
        nothing,  ///< No job excludes this one, nor it any other.
    };

    By by = By::job;
    std::string key{};                      ///< Read with `By::key`; 1 to `job_key_max` bytes.
    KeyScope scope = KeyScope::until_done;  ///< Read with `By::key`.
    Duration time{0};                       ///< From the push; read with `for_time`. Positive.
    OnDuplicate on_duplicate{};             ///< Read with `By::key`.

    /// Each push is a job of its own. A push whose reply was lost is repeated, and makes one job.
    static Unique off() { return {.by = By::nothing}; }

    /// One job of a key at a time.
    static Unique by_key(std::string key, KeyScope scope = KeyScope::until_done) {
        return {.by = By::key, .key = std::move(key), .scope = scope};
    }

    /// The last push wins: it replaces the job of its key that waits. While that one runs, or is
    /// BURIED, it is a duplicate and changes nothing, unless `scope` says otherwise.
    static Unique replace(std::string key, KeyScope scope = KeyScope::until_done) {
        return {.by = By::key,
                .key = std::move(key),
                .scope = scope,
                .on_duplicate = OnDuplicate::replace};
    }

    /// Each push puts off the job of its key that waits, and replaces it: with a `delay`, the job
    /// runs that long after the last push. One push more while it runs makes it run once more.
    static Unique debounce(std::string key) {
        return {.by = By::key,
                .key = std::move(key),
                .scope = KeyScope::until_started,
                .on_duplicate = OnDuplicate::debounce};
    }

    /// The first push wins, and for so long after it no other: at most one job in that time.
    static Unique throttle(std::string key, Duration time) {
        return {.by = By::key, .key = std::move(key), .scope = KeyScope::for_time, .time = time};
    }
};

}  // namespace routemaster
