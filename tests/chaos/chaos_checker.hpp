/// @file
/// Checks the record of a chaos run.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chaos/chaos_record.hpp"

namespace routemaster::test {

/// The timing of the workers.
struct ChaosRules {
    /// A process without a sign of life for this long may have been declared dead. Less than
    /// `worker_silence`, by the time between two heartbeats and between two signs of life.
    ChaosTime silence{};
    /// How long after a silence a process may continue jobs that were handed on.
    ChaosTime discovery{};
    /// A process with this number of signs of life after the end of a run has settled the job, or
    /// has found that the lease is lost.
    std::ptrdiff_t settling_pulses = 20;
};

/// The findings of a check.
struct ChaosFindings {
    std::vector<std::string> violations{};  ///< At most 20, and the number of further ones.
    std::uint64_t done = 0;                 ///< Jobs and follow-ups that were done.
    std::uint64_t repeated = 0;             ///< Runs beyond the first of each job.
    std::uint64_t overlaps = 0;  ///< Runs that continued, or began, after the next run of their job
                                 ///< began.
    std::uint64_t refused = 0;   ///< The part of `overlaps` that ended without being killed.
    std::uint64_t silences = 0;  ///< Silences of processes that were long enough to be declared
                                 ///< dead.
};

/// Checks the following rules:
/// - Each job with an acknowledged push ran to a successful end, and no further job ran.
/// - Each job has one follow-up, which ran to a successful end. Its parent's run ended
///   successfully, and the job was not handed on after this run.
/// - The fences and the attempts of a job increase together: of two runs the run with the greater
///   fence has the lease.
/// - A run may continue, or begin, after the next run of its job began only under two conditions:
///   its process was silent before for long enough to be declared dead, and the run began before
///   the end of the silence, or soon after it.
/// - Each pool counted as many lost leases as its runs must have lost.
[[nodiscard]] ChaosFindings check_chaos(ChaosRecord record, const ChaosRules& rules);

}  // namespace routemaster::test
