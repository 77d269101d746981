/// @file
/// `RetryPolicy`: when a job that failed runs again, and when it is given up.

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster {

/// What is different for errors of one kind. The first rule that applies counts.
struct RetryRule {
    /// Whether it is about this error. Called on the thread of the handler; must not throw.
    std::function<bool(const std::exception&)> applies;
    /// The wait before the next attempt, instead of the growing one.
    std::optional<Duration> wait{};
    /// The job is BURIED at once.
    bool bury = false;
    /// Attempts after which a job that failed in this way is BURIED. 0: as for other errors.
    std::uint32_t attempts_max = 0;
};

/// A rule for exceptions of type `E`, and those derived from it: the job is BURIED at once.
template <class E>
[[nodiscard]] RetryRule bury_on() {
    return {
        .applies =
            [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
        .bury = true};
}

/// A rule for exceptions of type `E`, and those derived from it: the next attempt begins after
/// `wait`.
template <class E>
[[nodiscard]] RetryRule retry_on(Duration wait) {
    return {
        .applies =
            [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
        .wait = wait};
}

/// Exponential waits with jitter: 1 s after the first failure, then twice as long each time, up to
/// 6 h; and up to half of it more, at random, so that jobs that failed together do not come again
/// together. The 25 attempts that a job has by default take three days.
///
///     .retry = {.wait_max = rm::Duration{60'000}, .rules = {rm::bury_on<std::invalid_argument>()}}
///
/// Thread safety: a value.
struct RetryPolicy {
    Duration wait_first{1'000};     ///< The wait after the first failure.
    double factor = 2;              ///< Each wait is so many times the one before. At least 1.
    Duration wait_max{21'600'000};  ///< No wait is longer, jitter apart.
    double jitter = 0.5;            ///< At most this part of the wait is added. 0 to 1.
    /// Attempts after which the job is BURIED, if it has no fewer of its own
    /// (`PushOptions::attempts_max`). 0: its own alone count, as they do for an attempt that ends
    /// its process: nobody asks this policy then.
    std::uint32_t attempts_max = 0;
    /// How long a job may go on failing: an attempt that fails so long after the first one failed,
    /// or later, is the last, and the job is BURIED. The time begins anew when the job is kicked.
    /// 0: its attempts alone count.
    Duration time_max{0};
    std::vector<RetryRule> rules{};

    /// The wait after that many attempts, at least 1; `chance` from [0, 1) decides the jitter.
    [[nodiscard]] Duration wait_after(std::uint32_t attempts, double chance) const;

    /// The rule about an error; null when there is none.
    [[nodiscard]] const RetryRule* rule_for(const std::exception& error) const;
};

}  // namespace routemaster
