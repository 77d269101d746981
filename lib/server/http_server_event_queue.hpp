/// @file
/// How other threads reach an event loop: they leave events, and one of them wakes it.
///
/// A connection is touched by the thread of its loop alone, so an answer that comes from elsewhere
/// is only ever a letter. Waking costs one system
/// call for all that was posted since the loop last looked: a group commit that answers 64
/// requests pays for one.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/system/file_descriptor.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

class Connection;

/// An answer on its way to the request it is for.
struct QueuedResponse {
    Connection* connection;
    HttpResponse response;
    bool dropped = false;  ///< Nobody answered: the responder was destroyed.
};

/// Everything that was left for a loop since it last looked.
struct Events {
    std::vector<QueuedResponse> responses;
    std::vector<FileDescriptor> clients;
    std::size_t evictions = 0;  ///< How many connections are to give way to those of other loops.
    std::optional<std::chrono::steady_clock::time_point> stop_at;
};

/// The event queue of one loop. Shared with responders, it outlives the loop; once closed it
/// swallows what is posted.
///
/// Thread safety: all members from any thread. Bounded by the connections and by the responders
/// that the handler keeps: each posts one answer.
class EventQueue {
public:
    /// Throws `Failure` (`unavailable`) when the process has no descriptor left.
    EventQueue();

    /// Becomes readable when there is events; meant for an edge-triggered epoll, nobody reads it.
    [[nodiscard]] int wake_descriptor() const noexcept { return wake_.get(); }

    void post(QueuedResponse answer);
    void post(FileDescriptor client);
    /// Asks the loop to close the connection that `evictable_at` is about.
    void evict();
    /// Asks the loop to end when its requests are answered, at the latest at `deadline`.
    void stop(std::chrono::steady_clock::time_point deadline);

    /// Moves the events into `events`, which was emptied before: the two exchange their memory.
    void take(Events& events);

    /// Takes the last events and refuses what comes after it.
    void close(Events& events);

    /// When the first connection of the loop may be closed to make room for another client: one
    /// whose request is not complete, or that has been idle for long. The loop says so.
    std::atomic<std::chrono::steady_clock::time_point> evictable_at{
        std::chrono::steady_clock::time_point::max()};

private:
    template <class Put>
    void post_with(Put put);

    FileDescriptor wake_;
    std::mutex mutex_;  ///< Guards everything below.
    Events events_;
    bool has_events_ = false;
    bool closed_ = false;
};

/// The right to answer one request once. A responder is a function that shares one.
///
/// Thread safety: `answer` from any thread; calls after the first do nothing.
class Responder {
public:
    Responder(std::shared_ptr<EventQueue> queue, Connection& connection) noexcept
        : queue_{std::move(queue)}, connection_{&connection} {}
    Responder(const Responder&) = delete;
    Responder& operator=(const Responder&) = delete;

    /// Tells the request that nobody will answer it, if nobody did.
    ~Responder();

    void answer(HttpResponse response);

private:
    void deliver(QueuedResponse answer);

    std::shared_ptr<EventQueue> queue_;
    Connection* connection_;  ///< Alive until answered; not touched after.
    std::atomic<bool> used_{false};
};

}  // namespace routemaster::detail
