/// @file
/// Handlers for an HTTP server under test.

#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "routemaster/server/http_server.hpp"
#include "support/http_client.hpp"

namespace routemaster::test {

/// A request without a response so far.
struct WaitingRequest {
    HttpRequest request;
    HttpResponder respond;
};

/// A handler that queues requests. The test responds to them.
class HttpRequestQueue {
public:
    HttpHandler handler() {
        return [this](HttpRequest request, HttpResponder respond) {
            const std::lock_guard lock{mutex_};
            waiting_.push_back({std::move(request), std::move(respond)});
            arrived_.notify_one();
        };
    }

    /// Waits for the next request.
    WaitingRequest take() {
        std::unique_lock lock{mutex_};
        if (!arrived_.wait_for(lock, std::chrono::seconds{30}, [&] { return !waiting_.empty(); })) {
            throw std::runtime_error{"no request came"};
        }
        WaitingRequest first = std::move(waiting_.front());
        waiting_.pop_front();
        return first;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<WaitingRequest> waiting_;
};

/// A handler that responds with the text of the request.
inline void echo(HttpRequest request, const HttpResponder& respond) {
    respond({200, request.method + ' ' + request.path + ' ' + request.body, "text/plain", {}});
}

/// Waits for more than a second of the server's own clock.
inline void let_a_second_pass(const HttpServer& server) {
    HttpClient silent{server.port()};
    REQUIRE(silent.closed_by_peer());
}

}  // namespace routemaster::test
