/// @file
/// Job data stored apart, as most jobs do not need it.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The details of a job after its first attempt or failure, or after a push with options.
struct JobDetails {
    /// Without group and concurrency, which `GroupedJob` stores.
    JobOptions options{};
    std::uint32_t attempts = 0;  ///< Begun since it was pushed or kicked.
    bool begun = false;          ///< An attempt began, even if it does not count any more.
    bool cancelled = false;      ///< The job ends unless its current attempt succeeds.
    /// The job was restored during its last attempt, and no error records the death of this
    /// attempt.
    bool cut_off = false;
    bool isolated = false;  ///< While PENDING: the job needed isolation when leased.
    std::optional<TimePoint> buried_at{};
    /// When the job first failed with a time limit, since its push or kick.
    std::optional<TimePoint> failing_since{};
    std::vector<JobError> errors{};  ///< The newest last, at most `job_errors_max`.
    std::vector<JobId> after{};      ///< Ids of the jobs for which this job waits.

    [[nodiscard]] bool has_attempts_left() const noexcept {
        return options.attempts_max == 0 || attempts < options.attempts_max;
    }

    /// Whether at least `isolated_deaths` attempts died with their workers: the job perhaps crashes
    /// its workers, and each crash ends the jobs beside it, too.
    [[nodiscard]] bool needs_isolation() const noexcept { return deaths() >= isolated_deaths; }

    [[nodiscard]] std::uint32_t deaths() const noexcept { return deaths_in(errors, attempts); }

    /// Whether no attempt began before the job expired.
    [[nodiscard]] bool has_expired(TimePoint now) const noexcept {
        return attempts == 0 && options.expires_at <= now;
    }

    /// Notes a failure. True when the job has been failing for `time_max` and has no further
    /// attempt. 0: no limit.
    bool failing_for(Duration time_max, TimePoint now) {
        if (time_max == Duration{0}) return false;
        if (!failing_since) failing_since = now;
        return saturating_add(*failing_since, time_max) <= now;
    }

    /// Stores the options of a push.
    void keep(const JobOptions& other) {
        options = other;
        options.group = {};
        options.concurrency = JobOptions{}.concurrency;
    }

    /// Another push replaces the content of the job.
    void begin_anew() {
        failing_since.reset();
        attempts = 0;
        begun = false;
        cancelled = false;
        cut_off = false;
    }

    /// Stores the error of the latest attempt.
    void add_error(std::string_view text, TimePoint at);

    friend bool operator==(const JobDetails&, const JobDetails&) = default;
};

}  // namespace routemaster::detail
