/// @file
/// Threads for the requests whose bodies take long to read.

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

/// Passes a request to `handler`. After an exception, which is logged to `faults`, the answer is
/// 500, unless the handler had answered, and the result is false.
bool call_handler(const HttpHandler& handler, HttpRequest request,
                  const std::shared_ptr<Responder>& responder, Complaints& faults);

/// Handles requests in the order of their arrival, on its own threads: to parse a mebibyte of JSON
/// takes as long as hundreds of small requests, which shall not wait for it.
///
/// Thread safety: `add` from any thread, the rest from one. Bounded by the connections: each has
/// one request at a time.
class LargeRequests {
public:
    /// `handler` and `faults` must outlive it. The threads start with the first request.
    LargeRequests(const HttpHandler& handler, Complaints& faults, unsigned threads_max)
        : handler_{handler}, faults_{faults}, threads_max_{threads_max} {}
    ~LargeRequests() { stop(); }

    LargeRequests(const LargeRequests&) = delete;
    LargeRequests& operator=(const LargeRequests&) = delete;

    /// Takes the request and its responder. False, and both are as before, when it has no thread.
    [[nodiscard]] bool add(HttpRequest& request, std::shared_ptr<Responder>& responder);

    /// Whether the calling thread is one of its own, and so inside a handler.
    [[nodiscard]] bool is_served_here() const noexcept;

    /// Drops the requests that wait. Afterwards no handler runs.
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
    std::mutex mutex_;  ///< Guards everything below.
    std::condition_variable changed_;
    std::deque<Waiting> waiting_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace routemaster::detail
