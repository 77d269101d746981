/// @file
/// `QueueThroughput`: how many jobs of a queue were done, failed, BURIED or expired over time.

#pragma once

#include <cstdint>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster {

/// Counts of jobs of a queue.
struct QueueCounts {
    std::uint64_t done = 0;  ///< Jobs that were done.
    /// Attempts that failed, were nacked, or died with their worker. If an attempt dies with the
    /// process that has the file of an embedded store open, the attempt counts only if the file
    /// records it and the job has attempts left.
    std::uint64_t failed = 0;
    std::uint64_t buried = 0;   ///< How often a job was BURIED.
    std::uint64_t expired = 0;  ///< Jobs that expired before their first attempt.

    friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

/// Counts of a minute, or of an hour.
struct QueueCountsAt {
    TimePoint from{};  ///< Its beginning: a multiple of a minute, or of an hour, of Unix time.
    QueueCounts counts{};

    friend bool operator==(const QueueCountsAt&, const QueueCountsAt&) = default;
};

/// Recent counts of a queue. The lists contain only minutes and hours with at least 1 event, the
/// oldest first. The last entry of each list is still growing. A memory or embedded store counts
/// from its opening; on Redis all processes count together.
struct QueueThroughput {
    /// Within the last 60 minutes, including the current minute.
    std::vector<QueueCountsAt> minutes{};
    /// Within the last 24 hours, including the current hour.
    std::vector<QueueCountsAt> hours{};

    friend bool operator==(const QueueThroughput&, const QueueThroughput&) = default;
};

}  // namespace routemaster
