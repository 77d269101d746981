/// @file
/// What the connections of one loop share.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "complaints.hpp"
#include "http_server_budget.hpp"
#include "http_server_event_queue.hpp"
#include "http_server_response.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// What all connections of a server share. Thread safety: its members are safe by themselves, or
/// do not change.
struct ServerShare {
    ServerShare(HttpServerOptions given, HttpHandler serving, HttpHandler authorizing)
        : options{std::move(given)},
          handler{std::move(serving)},
          admission{std::move(authorizing)},
          budget{options.buffered_bytes_max, options.body_max},
          refusals{options.log, LogLevel::info, "http: refused: "},
          faults{options.log, LogLevel::error, "http: "} {}

    const HttpServerOptions options;
    const HttpHandler handler;
    const HttpHandler admission;
    BodyBudget budget;
    Complaints refusals;
    Complaints faults;
};

/// And what those of one loop do. Thread safety: the loop's thread.
struct Service {
    /// What one read may bring; before the body of a request no more than a head takes.
    static constexpr std::size_t read_size = 65'536;

    ServerShare& share;
    std::shared_ptr<EventQueue> queue;
    ResponseDate date{};
    std::chrono::steady_clock::time_point now{};  ///< When this turn began.
    bool stopping = false;                        ///< Answers end their connections.
    bool complained = false;  ///< Something was told to `share.refusals` or `share.faults`.
    std::array<char, read_size> scratch{};  ///< Where sockets are read into.
};

}  // namespace routemaster::detail
