/// @file
/// `JobSlice`: limits how many jobs one step changes.

#pragma once

#include <cstddef>
#include <cstdint>

#include "core/jobs/state/job_state.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {

/// Limit for a step that changes many jobs. A journal may write each changed job as a whole, so a
/// step changes at most `jobs_max` jobs, with at most `job_slice_bytes_max` bytes of payloads and
/// errors. A job above this size is changed by a step of its own.
///
/// Not thread safe.
class JobSlice {
public:
    explicit JobSlice(std::uint64_t jobs_max) noexcept : jobs_max_{jobs_max} {}

    /// Counts a job towards the limit. False when the step must not change this job any more.
    [[nodiscard]] bool take(const JobState& job) noexcept {
        const auto bytes = bytes_ + job.size_with_errors();
        if (jobs_ == jobs_max_ || (jobs_ > 0 && bytes > job_slice_bytes_max)) return false;
        ++jobs_;
        bytes_ = bytes;
        return true;
    }

    [[nodiscard]] std::uint64_t jobs() const noexcept { return jobs_; }

private:
    std::uint64_t jobs_max_;
    std::uint64_t jobs_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace routemaster::detail
