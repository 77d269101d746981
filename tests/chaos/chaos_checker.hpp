/// @file
/// What must be true of the record of a chaos run.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chaos/chaos_record.hpp"

namespace routemaster::test {

/// What the checker must know of the workers.
struct ChaosRules {
    /// A process that gave no sign of life for so long may have been taken for dead: less than
    /// `worker_silence` by the time between two heartbeats and two signs of life.
    ChaosTime silence{};
    /// How long after such a silence it may go on with jobs that were handed on.
    ChaosTime discovery{};
    /// A process that gave so many signs of life after the end of a run has settled the job, or
    /// found that it may not.
    std::ptrdiff_t settling_pulses = 20;
};

/// What was found.
struct ChaosFindings {
    std::vector<std::string> violations{};  ///< At most 20, and how many more there are.
    std::uint64_t done = 0;                 ///< Jobs and follow-ups that were done.
    std::uint64_t repeated = 0;             ///< Runs beyond the first of each.
    std::uint64_t overlaps = 0;  ///< Runs that went on, or began, after the next of their job did.
    std::uint64_t refused = 0;   ///< Of these, the ones that ended by themselves.
    std::uint64_t silences = 0;  ///< Of processes, long enough to be taken for dead.
};

/// Checks that
/// - every job whose push was acknowledged ran to a good end, and no other ran;
/// - each of them has one follow-up, which ran to a good end; it follows from a run that ended
///   well, and after which the job was not handed on;
/// - fences and attempts of a job grow together, so that of two runs the one with the greater fence
///   has the job;
/// - a run goes on, or begins, after the next run of its job began only if its process was silent
///   for long enough to be taken for dead before that, and only if it began before the end of that
///   silence, or soon after it;
/// - each pool found as many leases lost as its runs must have lost.
[[nodiscard]] ChaosFindings check_chaos(ChaosRecord record, const ChaosRules& rules);

}  // namespace routemaster::test
