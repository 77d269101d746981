/// @file
/// `LargeRequests`: thread pool for requests with large bodies.

#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "complaints.hpp"
#include "core/system/owner_process.hpp"
#include "http_server_event_queue.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// Passes a request to `handler`. If the handler throws, logs the exception to `faults`, responds
/// with 500 unless the handler has responded, and returns false.
bool call_handler(const HttpHandler& handler, HttpRequest request,
                  const std::shared_ptr<Responder>& responder, Complaints& faults);

/// Thread pool that handles requests in order of arrival. Parsing 1 MiB of JSON takes as long as
/// hundreds of small requests, so small requests must not wait for large requests.
///
/// Thread safety: `add` may be called from any thread, all other members from one thread. The queue
/// is bounded by the number of connections, because each connection has one request at a time.
class LargeRequests {
public:
    /// `handler` and `faults` must outlive this object. The first request starts the threads.
    LargeRequests(const HttpHandler& handler, Complaints& faults, unsigned threads_max)
        : handler_{handler}, faults_{faults}, threads_max_{threads_max} {}
    ~LargeRequests() { stop(); }

    LargeRequests(const LargeRequests&) = delete;
    LargeRequests& operator=(const LargeRequests&) = delete;

    /// Enqueues a request with its responder, by moving from them. Returns false, without a change,
    /// if no thread can be started, and after `stop`.
    [[nodiscard]] bool add(HttpRequest& request, std::shared_ptr<Responder>& responder);

    /// Whether the calling thread belongs to this pool, and is thus inside a handler.
    [[nodiscard]] bool is_served_here() const noexcept;

    /// Drops the queued requests. When this function returns, no handler runs.
    void stop();

private:
    struct Waiting {
        HttpRequest request;
        std::shared_ptr<Responder> responder;
    };

    void start();
    void run();

    const OwnerProcess process_{"HTTP server"};
    const HttpHandler& handler_;
    Complaints& faults_;
    const unsigned threads_max_;
    std::mutex mutex_;  ///< Guards the members below.
    std::condition_variable changed_;
    std::deque<Waiting> waiting_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace routemaster::detail
