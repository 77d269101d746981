/// @file
/// `JobVerdict`: how an attempt at a job ended, as its handler reports it.

#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "routemaster/retry_policy.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct JobVerdict {
    enum class Kind : std::uint8_t {
        done,
        failed,  ///< Due again when the retry policy says.
        retry,   ///< Failed; due again after `delay`.
        bury,    ///< Failed; BURIED at once.
        /// Due again after `delay`; the attempt does not count.
        snoozed,
    };

    Kind kind = Kind::done;
    std::string error{};
    Duration delay{0};
    /// The rule of the retry policy that applies to the error, or null.
    const RetryRule* rule = nullptr;
};

/// The text of an error, truncated to `job_error_max` bytes without splitting a UTF-8 character.
/// Invalid bytes become `?`.
[[nodiscard]] std::string kept_text(std::string_view error);

/// The verdict of a failed attempt. If there is no memory for the text, the text is "out of
/// memory".
[[nodiscard]] JobVerdict failed_verdict(const char* error) noexcept;

[[nodiscard]] JobVerdict verdict_of(const std::exception& error, const RetryPolicy& policy);

}  // namespace routemaster::detail
