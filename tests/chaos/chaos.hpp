/// @file
/// A chaos run: worker processes on one Redis server do jobs, and some of them are always being
/// killed by SIGKILL or frozen by SIGSTOP.

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
    /// Options of the pools: the silence after which a worker counts as dead, and the interval of
    /// heartbeats. The defaults are those of a `WorkerPool`.
    std::chrono::milliseconds silence{3'500};
    std::chrono::milliseconds heartbeat{1'000};
    std::string worker_program{};
};

/// The faults of a run, and the findings.
struct ChaosReport {
    ChaosFindings findings{};
    std::uint64_t pushed = 0;
    std::uint64_t killed = 0;
    std::uint64_t killed_frozen = 0;  ///< The part of `killed` that was frozen.
    std::uint64_t frozen = 0;    ///< For a short time, or until other workers had taken over their
                                 ///< jobs.
    std::uint64_t scrubbed = 0;  ///< Leases that scrubs ended.

    [[nodiscard]] std::string text() const;
};

/// Runs the chaos. The findings include violations in the record and on the store. Throws when a
/// program cannot run, or the queue is not empty a minute after the last fault.
[[nodiscard]] ChaosReport run_chaos(const ChaosOptions& options);

}  // namespace routemaster::test
