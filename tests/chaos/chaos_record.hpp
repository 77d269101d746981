/// @file
/// What the workers of a chaos run wrote down of their work, each into a file of its own, without
/// the store.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "routemaster/job.hpp"

namespace routemaster::test {

/// Time since the machine started, which all its processes share.
using ChaosTime = std::chrono::milliseconds;

[[nodiscard]] inline ChaosTime chaos_now() {
    return std::chrono::duration_cast<ChaosTime>(
        std::chrono::steady_clock::now().time_since_epoch());
}

/// What a job of a chaos run is about.
struct ChaosJob {
    std::uint64_t number = 0;  ///< Given by who pushed it; a follow-up has that of its parent.
    /// 0 for a job that was pushed from outside; else the fence of the attempt it follows from.
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
    ChaosTime ended{};       ///< Or when its process died.
    End end = End::none;     ///< `none`: its process died first.
    std::size_t worker = 0;  ///< The process.
};

/// A sign of life: the process ran, and the server of its store answered, on another connection.
struct ChaosPulse {
    ChaosTime at{};
    std::uint64_t lease_lost = 0;  ///< Leases that its pool had found lost by then.
};

/// One process from its start to its end.
struct ChaosWorker {
    ChaosTime born{};
    ChaosTime died{};
    std::vector<ChaosPulse> pulses{};
};

/// All that was written down.
struct ChaosRecord {
    std::vector<std::uint64_t> pushed{};  ///< The numbers of the jobs whose push was acknowledged.
    std::vector<ChaosWorker> workers{};
    std::vector<ChaosRun> runs{};
};

/// Writes the file of one worker. A line that was written survives the end of the process.
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

/// Adds a process, and what it wrote, to the record. Throws `std::runtime_error` for what no worker
/// writes.
void read_chaos_log(const std::filesystem::path& file, ChaosTime born, ChaosTime died,
                    ChaosRecord& record);

}  // namespace routemaster::test
