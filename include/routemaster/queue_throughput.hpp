/// @file
/// What became of the jobs of a queue over time.

#pragma once

#include <cstdint>
#include <vector>

#include "routemaster/time.hpp"

namespace routemaster {

/// What happened to jobs of a queue.
struct QueueCounts {
    std::uint64_t done = 0;  ///< Jobs that were done.
    /// Attempts that failed, were nacked, or died with their worker; of a file not those that
    /// died with the process that had it.
    std::uint64_t failed = 0;
    std::uint64_t buried = 0;   ///< Jobs that were BURIED, each time.
    std::uint64_t expired = 0;  ///< Jobs that expired before their first attempt.

    friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

/// The same in a minute, or in an hour.
struct QueueCountsAt {
    TimePoint from{};  ///< When it began: a multiple of a minute, or of an hour, of Unix time.
    QueueCounts counts{};

    friend bool operator==(const QueueCountsAt&, const QueueCountsAt&) = default;
};

/// What became of the jobs of a queue lately: the minutes and hours in which something did, the
/// oldest first. The last one of each goes on. A store in memory or in a file counts from when it
/// was opened; on Redis all processes count together.
struct QueueThroughput {
    std::vector<QueueCountsAt> minutes{};  ///< Of the last 60, the current one included.
    std::vector<QueueCountsAt> hours{};    ///< Of the last 24, the current one included.

    friend bool operator==(const QueueThroughput&, const QueueThroughput&) = default;
};

}  // namespace routemaster
