/// @file
/// What became of the jobs of a queue, minute by minute and hour by hour.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "routemaster/queue_throughput.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The counts of one queue. Not in the journal: after a restart they begin anew.
///
/// Not thread safe.
class Throughput {
public:
    using Number = std::uint64_t QueueCounts::*;

    /// Counts one more, at an instant.
    void count(Number number, TimePoint now);

    [[nodiscard]] QueueThroughput at(TimePoint now) const;

    /// Whether nothing of it is of interest any more.
    [[nodiscard]] bool is_over(TimePoint now) const;

private:
    using Counts = std::map<std::int64_t, QueueCounts>;

    /// Finds the places of an instant.
    void move_to(TimePoint now);

    static std::vector<QueueCountsAt> list(const Counts& counts, std::int64_t last,
                                           std::int64_t most, Duration span);

    Counts minutes_;  ///< By their number since the Unix epoch, at most 60.
    Counts hours_;    ///< The same, at most 24.
    TimePoint minute_begin_ = TimePoint::max();  ///< Of the minute whose places are below.
    QueueCounts* in_minute_ = nullptr;
    QueueCounts* in_hour_ = nullptr;
};

/// Those of all queues in which something has happened lately.
///
/// Not thread safe.
class ThroughputTable {
public:
    /// Counts one more in a queue.
    void count(const std::string& queue, Throughput::Number number, TimePoint now);

    [[nodiscard]] QueueThroughput at(const std::string& queue, TimePoint now) const;

    /// Queues that take memory.
    [[nodiscard]] std::size_t size() const noexcept { return queues_.size(); }

private:
    void forget_old(TimePoint now);

    std::map<std::string, Throughput> queues_;
    std::map<std::string, Throughput>::iterator last_ = queues_.end();  ///< Counted last.
    TimePoint forgot_at_{};  ///< When old ones were looked for.
};

}  // namespace routemaster::detail
