/// @file
/// `Throughput`: counts of job events by queue, per minute and per hour.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "routemaster/queue_throughput.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Counts of the job events of a queue. Not in the journal, so counting restarts with the process.
///
/// Not thread safe.
class Throughput {
public:
    using Number = std::uint64_t QueueCounts::*;

    void count(Number number, TimePoint now);

    [[nodiscard]] QueueThroughput at(TimePoint now) const;

    /// Whether all counts are too old to be reported.
    [[nodiscard]] bool is_over(TimePoint now) const;

private:
    using Counts = std::map<std::int64_t, QueueCounts>;

    /// Sets the pointers below to the counts of the current minute and hour.
    void move_to(TimePoint now);

    static std::vector<QueueCountsAt> list(const Counts& counts, std::int64_t last,
                                           std::int64_t most, Duration span);

    Counts minutes_;                             ///< By minutes since the Unix epoch, at most 60.
    Counts hours_;                               ///< By hours since the Unix epoch, at most 24.
    TimePoint minute_begin_ = TimePoint::max();  ///< The minute to which the pointers below belong.
    QueueCounts* in_minute_ = nullptr;
    QueueCounts* in_hour_ = nullptr;
};

/// Table of the counts of all queues with recent events.
///
/// Not thread safe.
class ThroughputTable {
public:
    void count(const std::string& queue, Throughput::Number number, TimePoint now);

    [[nodiscard]] QueueThroughput at(const std::string& queue, TimePoint now) const;

    [[nodiscard]] std::size_t size() const noexcept { return queues_.size(); }

private:
    void forget_old(TimePoint now);

    std::map<std::string, Throughput> queues_;
    std::map<std::string, Throughput>::iterator last_ = queues_.end();
    TimePoint forgot_at_{};  ///< When old entries were last removed.
};

}  // namespace routemaster::detail
