/// @file
/// The exceptions by which a handler says what becomes of its job, other than done.
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

/// The attempt failed; the next one begins after `delay`, whatever the retry policy says. The job
/// is BURIED instead when its attempts are used up.
class Retry : public std::runtime_error {
public:
    /// The text is kept as the error of this attempt. A negative delay is 0.
    explicit Retry(Duration delay, const std::string& error = "to be tried again")
        : std::runtime_error{error}, delay_{delay} {}

    [[nodiscard]] Duration delay() const noexcept { return delay_; }

private:
    Duration delay_;
};

/// The attempt failed, and no other will do better: the job is BURIED at once, with this text as
/// its last error.
class Bury : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The job was not to be done yet, which is no failure: it runs again after `delay`, and this
/// attempt does not count. It keeps its place in its ordering group, so the others of that wait.
class Snooze : public std::runtime_error {
public:
    /// A negative delay is 0.
    explicit Snooze(Duration delay) : std::runtime_error{"snoozed"}, delay_{delay} {}

    [[nodiscard]] Duration delay() const noexcept { return delay_; }

private:
    Duration delay_;
};

}  // namespace routemaster
