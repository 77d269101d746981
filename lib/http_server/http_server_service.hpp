/// @file
/// State shared by all connections of a server, and by those of a loop.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "complaints.hpp"
#include "http_server_answer_memory.hpp"
#include "http_server_budget.hpp"
#include "http_server_event_queue.hpp"
#include "http_server_large_requests.hpp"
#include "http_server_response.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// State shared by all connections of a server. Thread safety: all members are thread safe or
/// constant.
struct ServerShare {
    ServerShare(HttpServerOptions given, HttpHandler serving, HttpHandler authorizing)
        : options{std::move(given)},
          handler{std::move(serving)},
          admission{std::move(authorizing)},
          budget{options.buffered_bytes_max, options.body_max},
          answers{std::make_shared<AnswerBudget>(options.answer_bytes_max)},
          refusals{options.log, LogLevel::info, "http: refused: "},
          faults{options.log, LogLevel::error, "http: "},
          large_requests{handler, faults, (options.threads + 1) / 2} {}

    const HttpServerOptions options;
    const HttpHandler handler;
    const HttpHandler admission;
    BodyBudget budget;
    const std::shared_ptr<AnswerBudget> answers;
    Complaints refusals;
    Complaints faults;
    LargeRequests large_requests;
};

/// State shared by the connections of a loop. Thread safety: the calling thread must have locked
/// `EventQueue::turn_` of the loop.
struct Service {
    /// Maximum bytes per read of a body. Reads before the body are limited to `head_size_max`.
    static constexpr std::size_t read_size = 65'536;

    ServerShare& share;
    std::shared_ptr<EventQueue> queue;
    ResponseDate date{};
    std::chrono::steady_clock::time_point now{};  ///< When this iteration began.
    bool stopping = false;    ///< The server is stopping, so each response closes its connection.
    bool complained = false;  ///< `share.refusals` or `share.faults` has deferred messages.
    std::array<char, read_size> scratch{};  ///< The read buffer of all connections.
};

}  // namespace routemaster::detail
