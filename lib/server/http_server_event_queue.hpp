/// @file
/// `EventQueue`: passes events from any thread to an event loop.
///
/// A mutex, the turn of the loop, protects the connections of a loop. The loop has locked the turn
/// except while it sleeps. Threads post their responses as events. The first event after the loop
/// last read its events wakes the loop by a system call, so a group commit with 64 responses makes
/// a single call. If only one request waits and the loop sleeps, the responding thread locks the
/// turn and sends a short response itself.

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

struct QueuedResponse {
    Connection* connection;
    HttpResponse response;
    bool dropped = false;  ///< The responder was destroyed without a response.
    bool refused = false;  ///< A 503 that replaces a response that was too large.
    AnswerMemory memory{};
};

struct Events {
    std::vector<QueuedResponse> responses;
    std::vector<FileDescriptor> clients;
    std::size_t evictions = 0;  ///< Connections to close to make room for new clients.
    std::optional<std::chrono::steady_clock::time_point> stop_at;
};

/// The event queue of a loop. Shared with responders, so the queue may outlive the loop. A closed
/// queue discards events. The number of events is bounded by the number of connections, and by the
/// number of responders that the handler keeps: each responder posts one response.
///
/// Thread safe.
class EventQueue {
public:
    /// Throws `Failure` with `unavailable` if the process has no descriptor left.
    explicit EventQueue(std::shared_ptr<AnswerBudget> answers);

    [[nodiscard]] const std::shared_ptr<AnswerBudget>& answers() const noexcept { return answers_; }

    /// Sends a response, or returns false and leaves the response unchanged.
    using Send = std::function<bool(QueuedResponse&)>;

    /// Locks the turn. The loop must call this once, on its own thread. While the loop sleeps,
    /// threads that lock the turn call `send`, until `close`.
    [[nodiscard]] std::unique_lock<std::mutex> begin_turn(Send send);

    /// Whether the calling thread is the thread of the loop.
    [[nodiscard]] bool is_read_here() const noexcept;

    /// An eventfd that is readable when there are events. For an edge-triggered epoll: no code
    /// reads the eventfd.
    [[nodiscard]] int wake_descriptor() const noexcept { return wake_.get(); }

    [[nodiscard]] const OwnerProcess& process() const noexcept { return process_; }

    void post(QueuedResponse answer);
    void post(FileDescriptor client);
    void wake();
    /// Makes the loop close the connection to which `evictable_at` refers.
    void evict();
    /// Makes the loop end when all its requests have responses, or at `deadline`.
    void stop(std::chrono::steady_clock::time_point deadline);

    /// Moves the events into `events`, which must be empty, by a swap that reuses the memory.
    void take(Events& events);

    /// Returns the last events, and discards all later events. The loop must have locked the turn.
    void close(Events& events);

    /// When the loop may close a connection to make room for a new client: the connection whose
    /// request has been incomplete, or which has been idle, for long enough. The loop sets this
    /// time.
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
    std::mutex turn_;  ///< Locked by the loop unless it sleeps. Guards `send_` and connections.
    Send send_;
    std::mutex mutex_;  ///< Guards the members below.
    Events events_;
    bool has_events_ = false;
    bool closed_ = false;
};

/// Accepts the response to a request, once. An `HttpResponder` is a function that shares ownership
/// of a `Responder`.
///
/// Thread safety: `answer` may be called from any thread. Calls after the first have no effect.
class Responder {
public:
    /// `refusable`: the response may be replaced by a 503 if it takes too much memory.
    Responder(std::shared_ptr<EventQueue> queue, Connection& connection, bool refusable) noexcept
        : queue_{std::move(queue)},
          connection_{&connection},
          memory_{queue_->answers()},
          refusable_{refusable} {}
    Responder(const Responder&) = delete;
    Responder& operator=(const Responder&) = delete;

    /// If `answer` was never called, posts an event with `dropped`.
    ~Responder();

    void answer(HttpResponse response);

    /// Reserves memory for the response. If the budget would be exceeded, responds with 503 and
    /// returns false. Must not run concurrently with `answer`.
    [[nodiscard]] bool reserve(std::size_t bytes);

private:
    void charge(QueuedResponse& answer);
    void deliver(QueuedResponse answer);

    std::shared_ptr<EventQueue> queue_;
    Connection* connection_;  ///< Alive until the response; not used afterwards.
    AnswerMemory memory_;     ///< Reserved for the response.
    const bool refusable_;
    std::atomic<bool> used_{false};
};

}  // namespace routemaster::detail
