/// @file
/// The limit of a step with many jobs.

#pragma once

#include <cstddef>
#include <cstdint>

#include "core/state/job_state.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {

/// A chunk: the jobs changed by one step. Each of them may be written as a whole. A chunk therefore
/// has at most `jobs_max` jobs, with at most `job_slice_bytes_max` bytes of jobs and errors. A
/// greater job is a chunk of its own.
///
/// Not thread safe.
class JobSlice {
public:
    explicit JobSlice(std::uint64_t jobs_max) noexcept : jobs_max_{jobs_max} {}

    /// Adds a job to the chunk. False when the chunk is full.
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
