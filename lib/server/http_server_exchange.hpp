/// @file
/// One request and its answer, from the end of its headers until the answer is sent.

#pragma once

#include <microhttpd.h>

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "http_server_mailbox.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// ```
///  receiving ──► handling ──────────────────────────────► answered ──► (sent, gone)
///      │             └──────► waiting ──► suspended ─────────▲
///      │                         │             └─────────────┤
///      │                         ├───────────────────────────┤
///      │                         └──► abandoned ──► (gone)   │
///      └──► refused (the body is too large) ─────────────────┘
/// ```
/// libmicrohttpd asks for the answer of a `waiting` request in every turn of the loop, and has
/// suspended the connection of a `suspended` one. The client of an `abandoned` one has gone, but
/// its answer is still to come.
///
/// Thread safety: the loop's thread only.
struct Exchange {
    enum class State { receiving, refused, handling, waiting, suspended, abandoned, answered };

    explicit Exchange(MHD_Connection* on) noexcept : connection{on} {}

    /// The request whose handler runs on this thread.
    static inline constinit thread_local const Exchange* handled_here = nullptr;

    void take(Answer answer) {
        response = std::move(answer.response);
        dropped = answer.dropped;
        state = State::answered;
    }

    MHD_Connection* connection;
    State state = State::receiving;
    std::chrono::steady_clock::time_point waiting_since;
    bool dropped = false;   ///< Answered by nobody.
    bool farewell = false;  ///< The client may still be sending when the connection is closed.
    std::string body;
    std::size_t discarded = 0;  ///< Bytes of a refused body.
    HttpResponse response;      ///< Its body is sent from here: it lives until all is sent.
    std::list<Exchange>::iterator place;  ///< Where the loop keeps it.
};

}  // namespace routemaster::detail
