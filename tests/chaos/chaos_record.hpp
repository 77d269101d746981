/// @file
/// The record of a chaos run. Each worker writes its work into a file, independently of the store.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "routemaster/job.hpp"

namespace routemaster::test {

/// The time since the start of the machine, common to all its processes.
using ChaosTime = std::chrono::milliseconds;

[[nodiscard]] inline ChaosTime chaos_now() {
    return std::chrono::duration_cast<ChaosTime>(
        std::chrono::steady_clock::now().time_since_epoch());
}

/// The content of a job in a chaos run.
struct ChaosJob {
    std::uint64_t number = 0;  ///< Unique per pushed job; a follow-up has the number of its parent.
    /// 0 for a pushed job; for a follow-up, the fence of its parent's attempt.
    std::uint64_t parent_fence = 0;

    [[nodiscard]] bool is_follow_up() const noexcept { return parent_fence != 0; }
};

/// One call of a handler.
struct ChaosRun {
    enum class End : char { none = '-', done = 'd', failed = 'f' };

    ChaosJob job{};
    JobId id = 0;
    std::uint32_t attempt = 0;
    std::uint64_t fence = 0;
    ChaosTime begun{};
    ChaosTime ended{};       ///< Or the time when its process died.
    End end = End::none;     ///< `none` if its process died first.
    std::size_t worker = 0;  ///< The process.
};

/// A sign of life: the process ran, and the Redis server replied on a separate connection.
struct ChaosPulse {
    ChaosTime at{};
    std::uint64_t lease_lost = 0;  ///< The number of lost leases that the pool had found by then.
};

/// A process from its start to its end.
struct ChaosWorker {
    ChaosTime born{};
    ChaosTime died{};
    std::vector<ChaosPulse> pulses{};
};

/// The complete record.
struct ChaosRecord {
    std::vector<std::uint64_t> pushed{};  ///< The numbers of the jobs whose push was acknowledged.
    std::vector<ChaosWorker> workers{};
    std::vector<ChaosRun> runs{};
};

/// Writes the file of one worker. Written lines survive the end of the process.
///
/// Thread safety: all members may be called from any thread.
class ChaosLog {
public:
    explicit ChaosLog(const std::filesystem::path& file);
    ChaosLog(const ChaosLog&) = delete;
    ChaosLog& operator=(const ChaosLog&) = delete;
    ~ChaosLog();

    void begin(const ChaosRun& run) const;
    void end(const ChaosRun& run) const;
    void pulse(const ChaosPulse& pulse) const;

private:
    void write(const std::string& line) const;

    int file_;
};

/// Adds a process and its file to the record. Throws `std::runtime_error` for invalid lines.
void read_chaos_log(const std::filesystem::path& file, ChaosTime born, ChaosTime died,
                    ChaosRecord& record);

}  // namespace routemaster::test
