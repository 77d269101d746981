/// @file
/// Exceptions that a handler throws to end an attempt without success: `Retry`, `Bury`, `Snooze`.
///
///     pool.handle("charge", [](rm::JobContext& job) {
///         if (bank_is_closed()) throw rm::Snooze{rm::Duration{3'600'000}};
///         if (!card_is_valid()) throw rm::Bury{"the card has expired"};
///         if (busy()) throw rm::Retry{rm::Duration{5'000}, "the bank is busy"};
///     });

#pragma once

#include <stdexcept>
#include <string>

#include "routemaster/time.hpp"

namespace routemaster {

/// The attempt failed, and the next attempt begins after `delay`, which overrides the retry policy.
/// If no attempts are left, the job is BURIED instead.
class Retry : public std::runtime_error {
public:
    /// `error` is stored as the error of this attempt. A negative delay counts as 0.
    explicit Retry(Duration delay, const std::string& error = "to be tried again")
        : std::runtime_error{error}, delay_{delay} {}

    [[nodiscard]] Duration delay() const noexcept { return delay_; }

private:
    Duration delay_;
};

/// The attempt failed, and retries would fail as well. The job is BURIED at once, with this text as
/// its last error.
class Bury : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The job should run later, which is no failure: it runs again after `delay`, and this attempt
/// does not count. The job keeps its position in its ordering group, so later jobs of the group
/// wait.
class Snooze : public std::runtime_error {
public:
    /// A negative delay counts as 0.
    explicit Snooze(Duration delay) : std::runtime_error{"snoozed"}, delay_{delay} {}

    [[nodiscard]] Duration delay() const noexcept { return delay_; }

private:
    Duration delay_;
};

}  // namespace routemaster
