/// @file
/// A chaos run: worker processes on one Redis server, of which some are killed with SIGKILL or
/// frozen with SIGSTOP all the time, while jobs are pushed.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "chaos/chaos_checker.hpp"

namespace routemaster::test {

inline constexpr const char* chaos_queue = "chaos";
inline constexpr const char* chaos_job = "job";
inline constexpr const char* chaos_follow_up = "follow-up";
inline constexpr std::chrono::milliseconds chaos_pulse_interval{100};

struct ChaosOptions {
    std::chrono::milliseconds duration{60'000};
    std::uint64_t seed = 1;
    std::size_t workers = 3;
    /// Of the pools: silent for so long they are taken for dead, and how often they say that they
    /// live. The defaults are those of a `WorkerPool`.
    std::chrono::milliseconds silence{3'500};
    std::chrono::milliseconds heartbeat{1'000};
    std::string worker_program{};
};

/// What was done to the workers, and what came of it.
struct ChaosReport {
    ChaosFindings findings{};
    std::uint64_t pushed = 0;
    std::uint64_t killed = 0;
    std::uint64_t killed_frozen = 0;  ///< Of these, the ones that were frozen.
    std::uint64_t frozen = 0;         ///< For a short time, or until others had their jobs.
    std::uint64_t scrubbed = 0;       ///< Leases that the store took back.

    [[nodiscard]] std::string text() const;
};

/// Runs it; the violations found in the record and on the store are among the findings. Throws when
/// a program does not run, or the queue is not empty a minute after the end of all trouble.
[[nodiscard]] ChaosReport run_chaos(const ChaosOptions& options);

}  // namespace routemaster::test
