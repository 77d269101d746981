/// @file
/// `Publisher`: publishes many events over a few concurrent connections.

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

/// An event to publish.
struct Line {
    std::uint64_t number = 0;  ///< Line number in the input, counted from 1.
    std::string topic;
    std::string body;  ///< The JSON to send.
};

/// Numbers of published and failed events.
struct PublishTotals {
    std::uint64_t published = 0;
    std::uint64_t failed = 0;  ///< Includes events not sent because the bus was unreachable.
};

/// A line that was not published.
struct FailedLine {
    std::uint64_t number = 0;
    std::string why;
};

/// Publisher with several connections. Each connection has a queue, and sends its events one by
/// one, in order.
///
/// When the bus is unreachable, sending stops permanently. Thread safety: call all members from one
/// thread.
class Publisher {
public:
    /// With `by_topic`, all events of a topic use one connection, and so remain in order.
    Publisher(const BusSettings& settings, std::size_t connections, bool by_topic);

    /// Waits until the queued events are sent.
    ~Publisher();

    /// Enqueues an event. Blocks while the queue of its connection is full. Returns false if the
    /// bus is unreachable.
    bool publish(Line line);

    /// Counts an invalid line as failed.
    void reject(std::uint64_t number, const std::string& why);

    /// Returns the lines that failed since the last call, in order.
    [[nodiscard]] std::vector<FailedLine> take_failed();

    /// Waits until the queued events are sent, and returns the totals. No other member may be
    /// called afterwards.
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
