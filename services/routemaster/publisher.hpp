/// @file
/// Publishes many events over a few connections.

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
    std::uint64_t number = 0;  ///< Where it stands in the input, counted from 1.
    std::string topic;
    std::string body;  ///< The JSON to send.
};

/// What became of the events so far.
struct PublishTotals {
    std::uint64_t published = 0;
    std::uint64_t failed = 0;  ///< Those that were not sent any more among them.
};

/// A line that was not published.
struct FailedLine {
    std::uint64_t number = 0;
    std::string why;
};

/// Connections that publish one event after the other, each with a queue of its own.
///
/// Events on one connection keep their order. When the bus cannot be reached, nothing more is sent.
/// Thread safety: all members from one thread.
class Publisher {
public:
    /// `by_topic`: all events of a topic take the same connection.
    Publisher(const BusSettings& settings, std::size_t connections, bool by_topic);

    /// Waits until what was queued is sent.
    ~Publisher();

    /// Queues an event; waits while the queue of its connection is full. False when the bus cannot
    /// be reached any more.
    bool publish(Line line);

    /// Counts a line that is no event.
    void reject(std::uint64_t number, const std::string& why);

    /// The lines that failed since this was last called, in their order.
    [[nodiscard]] std::vector<FailedLine> take_failed();

    /// Waits until everything queued is sent, and tells what became of it. Nothing may follow.
    PublishTotals finish();

    [[nodiscard]] PublishTotals totals() const;

private:
    struct OrderingGroup;

    void work(OrderingGroup& group);
    void send(BusClient& client, const Line& line);
    void fail(std::uint64_t number, std::string why);
    void fail_all(std::uint64_t number, std::string why);

    const bool by_topic_;
    mutable std::mutex mutex_;  // Guards the next three.
    PublishTotals totals_;
    std::vector<FailedLine> failed_;
    bool unreachable_ = false;
    std::vector<std::unique_ptr<OrderingGroup>> groups_;
    std::size_t next_group_ = 0;
};

}  // namespace routemaster::service
