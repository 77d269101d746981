/// @file
/// How much one step takes of many jobs.

#pragma once

#include <cstddef>
#include <cstdint>

#include "core/state/job_state.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {

/// Jobs that one step changes, each of which may be written as a whole: some, and of them and
/// their errors `job_slice_bytes_max`, but always one.
///
/// Not thread safe.
class JobSlice {
public:
    explicit JobSlice(std::uint64_t jobs_max) noexcept : jobs_max_{jobs_max} {}

    /// Whether a further job belongs to them, which is counted then.
    [[nodiscard]] bool take(const JobState& job) noexcept {
        const auto bytes = bytes_ + job.size_with_errors();
        if (jobs_ == jobs_max_ || (jobs_ > 0 && bytes > job_slice_bytes_max)) return false;
        ++jobs_;
        bytes_ = bytes;
        return true;
    }

    /// How many they are.
    [[nodiscard]] std::uint64_t jobs() const noexcept { return jobs_; }

private:
    std::uint64_t jobs_max_;
    std::uint64_t jobs_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace routemaster::detail
