/// @file
/// `Connection`: the connection of a client.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "core/system/file_descriptor.hpp"
#include "http_server_chunks.hpp"
#include "http_server_event_queue.hpp"
#include "http_server_head.hpp"
#include "http_server_input.hpp"
#include "http_server_service.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// Reads requests, passes them to the handler, and writes the responses. Never blocks. The loop
/// calls the connection when its socket is ready, when its response has arrived, and when its
/// timeout expires. The loop has one list of connections for each state.
///
/// ```
///  fresh ──► head ──► body ──► waiting ──► sending ──┬──► idle ──► head …
///              │     (waiting      │        ▲        ├──► body (the rest of a refused body)
///              │   for admission)  ▼        │        ├──► lingering ──► closed
///              │               abandoned    │        └──► closed
///              └──── refused ───────────────┘
/// ```
/// A connection is `lingering` if its response was sent before the client had sent the whole
/// request. When a socket with unread bytes is closed, the kernel resets the connection, and the
/// reset may destroy the response before the client reads it. Therefore the server closes only the
/// sending half, and reads and discards the bytes that still arrive. A connection is `abandoned` if
/// the client is gone and the handler has not responded yet.
///
/// Thread safety: the calling thread must have locked the turn of the loop (`EventQueue`).
class Connection {
public:
    enum class State {
        fresh,  ///< No byte has arrived yet.
        idle,   ///< No byte of the next request has arrived yet.
        head,
        body,
        waiting,  ///< Waiting for the handler.
        sending,
        lingering,
        abandoned,  ///< Its socket is closed.
        closed,     ///< Its socket is closed.
    };
    static constexpr std::size_t states = 9;

    Connection(Service& service, FileDescriptor socket) noexcept
        : service_{&service}, socket_{std::move(socket)} {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { forget_body(); }

    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
    [[nodiscard]] State state() const noexcept { return state_; }

    /// Records that the socket is ready for `events` (epoll flags).
    void notice(std::uint32_t events) noexcept;

    /// Does a bounded amount of work. True if more work can be done now.
    [[nodiscard]] bool proceed();

    /// Receives the response for which the connection waits.
    void take(QueuedResponse answer);

    /// Whether the next steps produce parts of a large response.
    [[nodiscard]] bool producing() const noexcept { return state_ == State::sending && rest_; }

    /// Sends as much of the response as the socket accepts, and reads nothing. True if `proceed`
    /// can do more.
    [[nodiscard]] bool send();

    /// Called when the timeout of the state, or the interval of its checks, has passed.
    void expire();

    void close() noexcept;

    /// Called when the server stops. Serves a complete request, and refuses an incomplete request.
    void stop();

    /// The connection whose handler runs on this thread.
    static inline constinit thread_local const Connection* handled_here = nullptr;

    // Set by the loop.
    std::list<Connection>::iterator place{};
    State listed = State::fresh;                    ///< The state of this list.
    std::chrono::steady_clock::time_point since{};  ///< Time of entry to the list.
    bool moved = true;    ///< Set when the state changes, until `Loop::settle`.
    bool queued = false;  ///< Whether the connection is in `Loop::queued_`.

private:
    enum class Feeding { incomplete, complete, refused };

    void enter(State state) noexcept;
    bool step();
    bool receive();
    void note_gone() const noexcept;

    bool read_head();
    void begin_request();
    void ask_for_admission();
    void begin_body();
    bool read_body();
    [[nodiscard]] Feeding feed();
    [[nodiscard]] Feeding feed_chunks();
    [[nodiscard]] bool accepts_chunk();
    [[nodiscard]] bool keep(std::string_view data);
    [[nodiscard]] bool make_space(std::size_t size);
    [[nodiscard]] bool may_read_on() const noexcept;
    void forget_body() noexcept;
    [[nodiscard]] bool too_slow(std::uint64_t bytes) const;

    void handle();
    void ask(const HttpHandler& handler, HttpRequest request);
    void refuse(int status, const std::string& text, bool read_on = false);
    void refuse_too_large(bool read_on);
    void respond(HttpResponse response);
    void set_content(HttpResponse& response);
    void fault(std::string_view text) noexcept;

    bool flush();
    void produce();
    void check_reading();
    void end_answer();
    void end_for_good();
    bool discard();

    Service* service_;
    FileDescriptor socket_;
    State state_ = State::fresh;
    bool readable_ = false;     ///< The socket may have bytes to read.
    bool half_closed_ = false;  ///< The client has closed its sending half.
    /// The value of `half_closed_` for handlers. Created with the first request.
    std::shared_ptr<std::atomic<bool>> gone_;
    bool ending_ = false;       ///< The response is the last response.
    bool body_left_ = false;    ///< The body of the request has unread bytes.
    bool discarding_ = false;   ///< The body is read and discarded.
    bool authorizing_ = false;  ///< The next response is the admission's.

    Input input_;
    HeadReader head_;
    ChunkReader chunks_;
    HttpRequest request_;
    std::uint64_t announced_left_ = 0;  ///< Unread bytes of a body with Content-Length.
    std::size_t charged_ = 0;           ///< Bytes reserved in the budget.
    std::size_t discarded_ = 0;
    std::chrono::steady_clock::time_point began_{};  ///< When reading, or sending, began.
    std::uint64_t progress_ = 0;  ///< Bytes read, or acknowledged by the client, since `began_`.
    std::chrono::steady_clock::time_point progressed_at_{};  ///< When the client last read.
    std::size_t turn_bytes_ = 0;  ///< Bytes read, sent and produced in this iteration.

    std::string output_;       ///< Head of the response, and a small body.
    std::string content_;      ///< A large body, or a part of a large body.
    std::size_t sent_ = 0;     ///< Bytes sent of `output_` and `content_`.
    HttpContent rest_;         ///< Produces the following parts.
    bool chunked_ = false;     ///< Whether the parts are sent as chunks.
    std::uint64_t given_ = 0;  ///< Bytes of the response that the kernel accepted.
    AnswerMemory memory_;
};

}  // namespace routemaster::detail
