/// @file
/// The end of an attempt at a job, as reported by its handler.

#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "routemaster/retry_policy.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The end of an attempt, before the retry policy decides.
struct JobVerdict {
    enum class Kind : std::uint8_t {
        done,
        failed,  ///< Runs again as the policy says.
        retry,   ///< Failed; runs again after `delay`.
        bury,    ///< Failed for good.
        /// Runs again after `delay`; the attempt does not count.
        snoozed,
    };

    Kind kind = Kind::done;
    std::string error{};
    Duration delay{0};
    /// The rule of the policy for this error, or null.
    const RetryRule* rule = nullptr;
};

/// The text of an error, cut to `job_error_max` bytes of whole UTF-8 characters. Invalid bytes
/// become `?`.
[[nodiscard]] std::string kept_text(std::string_view error);

/// A failed attempt. Without memory for the text, the text is "out of memory".
[[nodiscard]] JobVerdict failed_verdict(const char* error) noexcept;

/// The end of an attempt after an exception of its handler, by the policy.
[[nodiscard]] JobVerdict verdict_of(const std::exception& error, const RetryPolicy& policy);

}  // namespace routemaster::detail
