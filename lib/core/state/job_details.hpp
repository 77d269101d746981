/// @file
/// What only some jobs have, so that the many others need no space for it.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Of a job that was begun, failed, or pushed with options.
struct JobDetails {
    JobOptions options{};        ///< But group and concurrency, which a `GroupedJob` has.
    std::uint32_t attempts = 0;  ///< That were begun since it was pushed or kicked.
    bool begun = false;          ///< An attempt was, though it may not count any more.
    bool cancelled = false;      ///< It goes unless its attempt succeeds.
    bool cut_off = false;   ///< It was restored in the last attempt, of which no error says so.
    bool isolated = false;  ///< While PENDING: it needed isolation when it was leased.
    std::optional<TimePoint> buried_at{};
    /// Of the first failure since it was pushed or kicked, of those with a limit to the time.
    std::optional<TimePoint> failing_since{};
    std::vector<JobError> errors{};  ///< The newest last, at most `job_errors_max`.
    std::vector<JobId> after{};      ///< Jobs that it waits for, by their ids.

    /// Whether a further attempt may begin.
    [[nodiscard]] bool has_attempts_left() const noexcept {
        return options.attempts_max == 0 || attempts < options.attempts_max;
    }

    /// Whether so many of its attempts ended with their workers that it was perhaps the job that
    /// ended them: each time it would take those along that run beside it.
    [[nodiscard]] bool needs_isolation() const noexcept { return deaths() >= isolated_deaths; }

    /// How many attempts ended with their workers.
    [[nodiscard]] std::uint32_t deaths() const noexcept { return deaths_in(errors, attempts); }

    /// Whether it is too late for the first attempt, and there was none.
    [[nodiscard]] bool has_expired(TimePoint now) const noexcept {
        return attempts == 0 && options.expires_at <= now;
    }

    /// Notes a failure. Whether it is the last, as the job has been failing for that time; 0 is no
    /// limit.
    bool failing_for(Duration time_max, TimePoint now) {
        if (time_max == Duration{0}) return false;
        if (!failing_since) failing_since = now;
        return saturating_add(*failing_since, time_max) <= now;
    }

    /// Keeps what a push says.
    void keep(const JobOptions& other) {
        options = other;
        options.group = {};
        options.concurrency = JobOptions{}.concurrency;
    }

    /// Another push takes the place of that which it began with.
    void begin_anew() {
        failing_since.reset();
        attempts = 0;
        begun = false;
        cancelled = false;
        cut_off = false;
    }

    /// Keeps the error of the latest attempt.
    void add_error(std::string_view text, TimePoint at);

    friend bool operator==(const JobDetails&, const JobDetails&) = default;
};

}  // namespace routemaster::detail
