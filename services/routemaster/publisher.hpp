/// @file
/// `Publisher`: publishes many events over a few connections.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bus_client.hpp"

namespace routemaster::service {

/// One event to publish.
struct Line {
    std::uint64_t number = 0;  ///< The line of the event in the input, counted from 1.
    std::string topic;
    std::string body;  ///< The JSON to send.
};

/// The number of events published and failed so far.
struct PublishTotals {
    std::uint64_t published = 0;
    std::uint64_t failed = 0;  ///< Includes the events that were not sent because the bus could not
                               ///< be reached.
};

/// A line that was not published.
struct FailedLine {
    std::uint64_t number = 0;
    std::string why;
};

/// Publishes over several connections. Each connection has its own queue, and sends its events one
/// by one, in order.
///
/// Sending stops for good when the bus cannot be reached. Thread safety: all members from one
/// thread.
class Publisher {
public:
    /// With `by_topic`, the events of a topic share a connection, and keep their order.
    Publisher(const BusSettings& settings, std::size_t connections, bool by_topic);

    /// Waits until the queued events are sent.
    ~Publisher();

    /// Queues an event; waits while the queue of its connection is full. Returns false when the bus
    /// cannot be reached.
    bool publish(Line line);

    /// Counts an invalid line as failed.
    void reject(std::uint64_t number, const std::string& why);

    /// Returns the lines that failed since the last call, in their order.
    [[nodiscard]] std::vector<FailedLine> take_failed();

    /// Waits until the queued events are sent, and returns the totals. Call nothing after it.
    PublishTotals finish();

    [[nodiscard]] PublishTotals totals() const;

private:
    struct OrderingGroup;

    void work(OrderingGroup& group);
    void send(BusClient& client, const Line& line);
    void fail(std::uint64_t number, std::string why);
    void fail_all(std::uint64_t number, std::string why);

    const bool by_topic_;
    mutable std::mutex mutex_;  // Guards the next three members.
    PublishTotals totals_;
    std::vector<FailedLine> failed_;
    bool unreachable_ = false;
    std::vector<std::unique_ptr<OrderingGroup>> groups_;
    std::size_t next_group_ = 0;
};

}  // namespace routemaster::service
