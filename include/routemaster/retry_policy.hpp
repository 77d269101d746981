/// @file
/// `RetryPolicy`: when a failed job is retried, and when it is BURIED.

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster {

/// A rule for certain errors, which overrides the policy. The first matching rule is used.
struct RetryRule {
    /// Whether the rule matches this error. Called on the thread of the handler; must not throw.
    std::function<bool(const std::exception&)> applies;
    /// Delay before the next attempt, instead of the exponential backoff.
    std::optional<Duration> wait{};
    /// Whether the job is BURIED at once.
    bool bury = false;
    /// If this attempt or a later one fails with a matching error, the job is BURIED. 0: only the
    /// limits of the policy and of the job apply.
    std::uint32_t attempts_max = 0;
};

/// Rule for exceptions of type `E` and derived types: the job is BURIED at once.
template <class E>
[[nodiscard]] RetryRule bury_on() {
    return {
        .applies =
            [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
        .bury = true};
}

/// Rule for exceptions of type `E` and derived types: the job is retried after `wait`.
template <class E>
[[nodiscard]] RetryRule retry_on(Duration wait) {
    return {
        .applies =
            [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
        .wait = wait};
}

/// Exponential backoff with jitter: 1 s after the first failure, then twice as long each time, up
/// to 6 h. A random addition of up to half of the delay spreads out jobs that failed together. With
/// the default of 25 attempts, a job is retried for three days.
///
///     .retry = {.wait_max = rm::Duration{60'000}, .rules = {rm::bury_on<std::invalid_argument>()}}
///
/// Thread safety: a value.
struct RetryPolicy {
    Duration wait_first{1'000};     ///< Delay after the first failure.
    double factor = 2;              ///< Ratio of each delay to the previous one. At least 1.
    Duration wait_max{21'600'000};  ///< Maximum delay, without jitter.
    double jitter = 0.5;  ///< Maximum random addition, as a fraction of the delay. 0 to 1.
    /// The job is BURIED after this many attempts, or after `PushOptions::attempts_max` if that is
    /// smaller. 0: only the limit of the job applies. An attempt that crashes the process is
    /// checked only against the limit of the job, because the policy is not consulted.
    std::uint32_t attempts_max = 0;
    /// Maximum time for retries. If an attempt fails this long after the first failure, or
    /// later, the job is BURIED. A kick resets the time. 0: only the number of attempts is
    /// limited.
    Duration time_max{0};
    std::vector<RetryRule> rules{};

    /// Returns the delay after this many attempts (at least 1). `chance` in [0, 1) sets the jitter.
    [[nodiscard]] Duration wait_after(std::uint32_t attempts, double chance) const;

    /// Returns the first rule that matches an error; null if there is none.
    [[nodiscard]] const RetryRule* rule_for(const std::exception& error) const;
};

}  // namespace routemaster
