/// @file
/// `QueueThroughput`: how many jobs of a queue were done, failed, BURIED or expired over time.

#pragma once

#include <cstdint>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster {

/// Counts of job events of a queue.
struct QueueCounts {
    std::uint64_t done = 0;  ///< Jobs that were done.
    /// Attempts that failed, were nacked, or crashed with their worker. If the process that has
    /// opened an embedded store crashes, its running attempts count only if they were committed to
    /// the file and their jobs have attempts left.
    std::uint64_t failed = 0;
    std::uint64_t buried = 0;   ///< How often a job became BURIED.
    std::uint64_t expired = 0;  ///< Jobs that expired before their first attempt.

    friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

/// Counts of one minute or hour.
struct QueueCountsAt {
    TimePoint from{};  ///< Its start: a multiple of a minute, or of an hour, in Unix time.
    QueueCounts counts{};

    friend bool operator==(const QueueCountsAt&, const QueueCountsAt&) = default;
};

/// Recent counts of a queue. The lists contain only minutes and hours with at least one event, the
/// oldest first. The last entry may still increase. A memory or embedded store counts from its
/// opening. On Redis the counts of all processes are added.
struct QueueThroughput {
    /// Within the last 60 minutes, including the current minute.
    std::vector<QueueCountsAt> minutes{};
    /// Within the last 24 hours, including the current hour.
    std::vector<QueueCountsAt> hours{};

    friend bool operator==(const QueueThroughput&, const QueueThroughput&) = default;
};

}  // namespace routemaster
