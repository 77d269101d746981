/// @file
/// How other threads reach an event loop: they post events, and the first one wakes it.
///
/// Only whoever has the turn of a loop touches its connections: the loop itself, except while it
/// sleeps. Other threads post their answers as events. Waking costs one system call for all events
/// posted since the loop last looked: a group commit that answers 64 requests makes one. When a
/// single request waits, and its loop sleeps, the thread that answers takes the turn, and sends a
/// short answer by itself.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/system/file_descriptor.hpp"
#include "core/system/owner_process.hpp"
#include "http_server_answer_memory.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

class Connection;

/// An answer on its way to its request.
struct QueuedResponse {
    Connection* connection;
    HttpResponse response;
    bool dropped = false;  ///< Nobody answered: the responder was destroyed.
    bool refused = false;  ///< The answer took too much memory; this is another one.
    AnswerMemory memory{};
};

/// The events posted to a loop since it last looked.
struct Events {
    std::vector<QueuedResponse> responses;
    std::vector<FileDescriptor> clients;
    std::size_t evictions = 0;  ///< Connections to close, for those of other loops.
    std::optional<std::chrono::steady_clock::time_point> stop_at;
};

/// The event queue of one loop. Responders share it, so it may outlive the loop; once closed it
/// discards events.
///
/// Thread safety: all members from any thread. Bounded by the connections and by the responders
/// that the handler keeps: each posts one answer.
class EventQueue {
public:
    /// Throws `Failure` (`unavailable`) when the process has no descriptor left.
    explicit EventQueue(std::shared_ptr<AnswerBudget> answers);

    /// The budget of all answers of the server.
    [[nodiscard]] const std::shared_ptr<AnswerBudget>& answers() const noexcept { return answers_; }

    /// Sends an answer for the loop, or returns false and leaves it as it is.
    using Send = std::function<bool(QueuedResponse&)>;

    /// Begins the first turn of the loop, on its own thread. `send` is called by threads that have
    /// the turn while it sleeps, until `close`.
    [[nodiscard]] std::unique_lock<std::mutex> begin_turn(Send send);

    /// Whether the calling thread is that of the loop.
    [[nodiscard]] bool is_read_here() const noexcept;

    /// Becomes readable when there are events; meant for an edge-triggered epoll, nobody reads it.
    [[nodiscard]] int wake_descriptor() const noexcept { return wake_.get(); }

    /// The process whose threads serve the connections.
    [[nodiscard]] const OwnerProcess& process() const noexcept { return process_; }

    void post(QueuedResponse answer);
    void post(FileDescriptor client);
    /// Wakes the loop.
    void wake();
    /// Asks the loop to close the connection that `evictable_at` refers to.
    void evict();
    /// Asks the loop to end when its requests are answered, at the latest at `deadline`.
    void stop(std::chrono::steady_clock::time_point deadline);

    /// Moves the events into `events`, which must be empty: the two swap their memory.
    void take(Events& events);

    /// Takes the last events and discards later ones. The loop calls it in its turn.
    void close(Events& events);

    /// When the loop may close its first connection in favour of another client: one whose
    /// request is incomplete, or that has been idle for long. The loop sets it.
    std::atomic<std::chrono::steady_clock::time_point> evictable_at{
        std::chrono::steady_clock::time_point::max()};

private:
    template <class Put>
    void post_with(Put put);
    [[nodiscard]] bool has_events();
    [[nodiscard]] bool send_in_its_turn(QueuedResponse& answer);

    const OwnerProcess process_{"HTTP server"};
    const std::shared_ptr<AnswerBudget> answers_;
    FileDescriptor wake_;
    std::mutex turn_;  ///< Locked by the loop unless it sleeps. Guards `send_` and its connections.
    Send send_;
    std::mutex mutex_;  ///< Guards everything below.
    Events events_;
    bool has_events_ = false;
    bool closed_ = false;
};

/// The right to answer one request once. An `HttpResponder` is a function that shares one.
///
/// Thread safety: `answer` from any thread; calls after the first do nothing.
class Responder {
public:
    /// `refusable`: the answer may be replaced by a 503 when it takes too much memory.
    Responder(std::shared_ptr<EventQueue> queue, Connection& connection, bool refusable) noexcept
        : queue_{std::move(queue)}, connection_{&connection}, refusable_{refusable} {}
    Responder(const Responder&) = delete;
    Responder& operator=(const Responder&) = delete;

    /// If nobody has answered, posts that nobody will.
    ~Responder();

    void answer(HttpResponse response);

private:
    void reserve(QueuedResponse& answer);
    void deliver(QueuedResponse answer);

    std::shared_ptr<EventQueue> queue_;
    Connection* connection_;  ///< Alive until answered; not touched after.
    const bool refusable_;
    std::atomic<bool> used_{false};
};

}  // namespace routemaster::detail
