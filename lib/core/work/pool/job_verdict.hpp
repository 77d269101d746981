/// @file
/// What became of an attempt at a job, as its handler says.

#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "routemaster/retry_policy.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// What becomes of the job, before the retry policy is asked.
struct JobVerdict {
    enum class Kind : std::uint8_t {
        done,
        failed,   ///< It runs again as the policy says.
        retry,    ///< It failed, and runs again after `delay`.
        bury,     ///< It failed for good.
        snoozed,  ///< It runs again after `delay`; the attempt does not count.
    };

    Kind kind = Kind::done;
    std::string error{};
    Duration delay{0};
    const RetryRule* rule = nullptr;  ///< That of the policy about this error, if any.
};

/// What may be kept of the text of an error: the first `job_error_max` bytes of whole UTF-8
/// characters. Bytes that are none become `?`.
[[nodiscard]] std::string kept_text(std::string_view error);

/// What an exception that left a handler says, under that policy.
[[nodiscard]] JobVerdict verdict_of(const std::exception& error, const RetryPolicy& policy);

}  // namespace routemaster::detail
