/// @file
/// `RetryPolicy`: when a failed job runs again, and when it is BURIED.

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster {

/// A special rule for some errors. The first rule that applies to an error is used.
struct RetryRule {
    /// Whether the rule applies to this error. Called on the thread of the handler; must not throw.
    std::function<bool(const std::exception&)> applies;
    /// The wait before the next attempt, instead of the exponential wait.
    std::optional<Duration> wait{};
    /// Whether the job is BURIED at once.
    bool bury = false;
    /// The job is BURIED if this attempt, or a later one, fails with this error. 0: only the limits
    /// of the policy and of the job apply.
    std::uint32_t attempts_max = 0;
};

/// A rule for exceptions of type `E` and derived types: the job is BURIED at once.
template <class E>
[[nodiscard]] RetryRule bury_on() {
    return {
        .applies =
            [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
        .bury = true};
}

/// A rule for exceptions of type `E` and derived types: the next attempt begins after `wait`.
template <class E>
[[nodiscard]] RetryRule retry_on(Duration wait) {
    return {
        .applies =
            [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
        .wait = wait};
}

/// Exponential waits with jitter: 1 s after the first failure, then twice as long each time, up to
/// 6 h. A random part of up to half of the wait is added, in order to spread jobs that failed
/// together. The 25 attempts that a job has by default take three days.
///
///     .retry = {.wait_max = rm::Duration{60'000}, .rules = {rm::bury_on<std::invalid_argument>()}}
///
/// Thread safety: a value.
struct RetryPolicy {
    Duration wait_first{1'000};     ///< The wait after the first failure.
    double factor = 2;              ///< The ratio of each wait to the wait before. At least 1.
    Duration wait_max{21'600'000};  ///< The longest wait, without jitter.
    double jitter = 0.5;  ///< The greatest random addition, as a part of the wait. 0 to 1.
    /// The job is BURIED after this many attempts, or after `PushOptions::attempts_max` if that is
    /// smaller. 0: only the limit of the job counts. If an attempt crashes the process, only the
    /// limit of the job counts as well, because the policy is not consulted.
    std::uint32_t attempts_max = 0;
    /// How long a job may go on failing. If an attempt fails this long after the first failure, or
    /// later, the job is BURIED. A kick starts the time again. 0: only the number of attempts
    /// counts.
    Duration time_max{0};
    std::vector<RetryRule> rules{};

    /// The wait after this many attempts (at least 1). `chance` from [0, 1) decides the jitter.
    [[nodiscard]] Duration wait_after(std::uint32_t attempts, double chance) const;

    /// The first rule that applies to an error; null if there is none.
    [[nodiscard]] const RetryRule* rule_for(const std::exception& error) const;
};

}  // namespace routemaster
