/// @file
/// `JobDetails`: job data that most jobs do not need, stored separately.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Optional data of a job. It exists after the first attempt or failure of the job, or after a push
/// with options.
struct JobDetails {
    /// Options of the push, except group and concurrency, which `GroupedJob` stores.
    JobOptions options{};
    std::uint32_t attempts = 0;  ///< Attempts begun since the job was pushed or kicked.
    bool begun = false;          ///< An attempt has begun, even if it no longer counts.
    bool cancelled = false;      ///< The job is removed unless its current attempt succeeds.
    /// The store was restored during the last attempt of the job, and no error records the death of
    /// this attempt yet.
    bool cut_off = false;
    bool isolated = false;  ///< While PENDING: whether the job needed isolation when it was leased.
    std::optional<TimePoint> buried_at{};
    /// When the job first failed since its push or kick. Set only for jobs with a time limit for
    /// retries.
    std::optional<TimePoint> failing_since{};
    std::vector<JobError> errors{};  ///< Newest last, at most `job_errors_max`.
    std::vector<JobId> after{};

    [[nodiscard]] bool has_attempts_left() const noexcept {
        return options.attempts_max == 0 || attempts < options.attempts_max;
    }

    /// Whether at least `isolated_deaths` attempts ended with the death of their worker. Such a job
    /// may crash its workers, and each crash also interrupts the other jobs of the worker. It
    /// therefore runs alone.
    [[nodiscard]] bool needs_isolation() const noexcept { return deaths() >= isolated_deaths; }

    [[nodiscard]] std::uint32_t deaths() const noexcept { return deaths_in(errors, attempts); }

    [[nodiscard]] bool has_expired(TimePoint now) const noexcept {
        return attempts == 0 && options.expires_at <= now;
    }

    /// Records a failure of a job with a time limit for retries. True when the job has been failing
    /// for `time_max` and gets no further attempt. `time_max` 0 means no limit.
    bool failing_for(Duration time_max, TimePoint now) {
        if (time_max == Duration{0}) return false;
        if (!failing_since) failing_since = now;
        return saturating_add(*failing_since, time_max) <= now;
    }

    void keep(const JobOptions& other) {
        options = other;
        options.group = {};
        options.concurrency = JobOptions{}.concurrency;
    }

    /// Resets the attempts because another push replaced the content of the job.
    void begin_anew() {
        failing_since.reset();
        attempts = 0;
        begun = false;
        cancelled = false;
        cut_off = false;
    }

    void add_error(std::string_view text, TimePoint at);

    friend bool operator==(const JobDetails&, const JobDetails&) = default;
};

}  // namespace routemaster::detail
