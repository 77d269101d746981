/// @file
/// `EventQueue`: queue of events from any thread to an event loop.
///
/// The mutex `turn_` protects the connections of a loop. The loop has locked it except while it
/// sleeps. Other threads post their responses as events. Only the first event after the loop has
/// read its events wakes the loop by a system call, so a group commit with 64 responses makes one
/// such call. If only one request waits and the loop sleeps, the responding thread locks `turn_`
/// and sends a short response itself.

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
    bool dropped = false;
    bool refused = false;  ///< A 503 that replaces a response for which memory is missing.
    AnswerMemory memory{};
};

struct Events {
    std::vector<QueuedResponse> responses;
    std::vector<FileDescriptor> clients;
    std::size_t evictions = 0;  ///< Number of connections to close, to make room for new clients.
    std::optional<std::chrono::steady_clock::time_point> stop_at;
};

/// The event queue of one loop. Responders share its ownership, so it may outlive the loop. A
/// closed queue discards events. The number of events is bounded by the number of connections and
/// of responders, because each responder posts one response.
///
/// Thread safe.
class EventQueue {
public:
    /// Throws `Failure` with `unavailable` if the process has no descriptor left.
    explicit EventQueue(std::shared_ptr<AnswerBudget> answers);

    [[nodiscard]] const std::shared_ptr<AnswerBudget>& answers() const noexcept { return answers_; }

    /// Function that sends a response, or returns false and leaves the response unchanged.
    using Send = std::function<bool(QueuedResponse&)>;

    /// Locks `turn_`. The loop must call this once, on its own thread. While the loop sleeps,
    /// threads that lock `turn_` call `send`, until `close`.
    [[nodiscard]] std::unique_lock<std::mutex> begin_turn(Send send);

    /// Whether the calling thread is the thread of the loop.
    [[nodiscard]] bool is_read_here() const noexcept;

    /// Returns an eventfd that becomes readable when there are events. For edge-triggered epoll, so
    /// the eventfd is never read.
    [[nodiscard]] int wake_descriptor() const noexcept { return wake_.get(); }

    [[nodiscard]] const OwnerProcess& process() const noexcept { return process_; }

    void post(QueuedResponse answer);
    void post(FileDescriptor client);
    void wake();
    /// Makes the loop close the connection to which `evictable_at` refers.
    void evict();
    /// Makes the loop end when all its requests have responses, or at `deadline`.
    void stop(std::chrono::steady_clock::time_point deadline);

    /// Swaps the events with `events`, which must be empty. The swap reuses the memory.
    void take(Events& events);

    /// Takes the last events, and discards all later events. The caller must have locked `turn_`.
    void close(Events& events);

    /// From when the loop may close a connection to make room for a new client. It is the time when
    /// the loop's oldest incomplete request, or longest idle connection, is old enough. Set by the
    /// loop.
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

/// Shared state of an `HttpResponder`, which accepts the response to a request,
/// once.
///
/// Thread safety: `answer` may be called from any thread. Only its first call has an effect.
class Responder {
public:
    /// `refusable`: a 503 may replace the response if it uses too much memory.
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

    /// Reserves memory for the response. If this would exceed the budget, responds with 503 and
    /// returns false. Must not be called concurrently with `answer`.
    [[nodiscard]] bool reserve(std::size_t bytes);

private:
    void charge(QueuedResponse& answer);
    void deliver(QueuedResponse answer);

    std::shared_ptr<EventQueue> queue_;
    Connection* connection_;  ///< Valid until the response; not used afterwards.
    AnswerMemory memory_;
    const bool refusable_;
    std::atomic<bool> used_{false};
};

}  // namespace routemaster::detail
