/// @file
/// `Connection`: the state machine of a client's connection.

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

/// State machine that reads requests, passes them to the handler, and writes the responses, without
/// blocking. The loop calls it when its socket is ready, when its response has arrived, and when
/// its timeout expires. The loop has one list of connections per state.
///
/// ```
///  fresh ──► head ──► body ──► waiting ──► sending ──┬──► idle ──► head …
///              │     (waiting      │        ▲        ├──► body (the rest of a rejected body)
///              │   for admission)  ▼        │        ├──► lingering ──► closed
///              │               abandoned    │        └──► closed
///              └──── rejected ──────────────┘
/// ```
/// A connection is `lingering` if its response was sent before the client had sent the whole
/// request. If a socket with unread bytes is closed, the kernel sends a reset, which may destroy
/// the response before the client reads it. Therefore the server closes only the sending half, and
/// discards the bytes that still arrive. A connection is `abandoned` if the client has disconnected
/// and the handler has not responded yet.
///
/// Thread safety: the calling thread must have locked `EventQueue::turn_` of the loop.
class Connection {
public:
    enum class State {
        fresh,  ///< No byte has arrived.
        idle,   ///< No byte of the next request has arrived.
        head,
        body,
        waiting,  ///< The handler has not responded.
        sending,
        lingering,
        abandoned,
        closed,
    };
    static constexpr std::size_t states = 9;

    Connection(Service& service, FileDescriptor socket) noexcept
        : service_{&service}, socket_{std::move(socket)} {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { forget_body(); }

    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
    [[nodiscard]] State state() const noexcept { return state_; }

    void notice(std::uint32_t events) noexcept;

    /// Performs a bounded amount of work. Returns whether more can be done now.
    [[nodiscard]] bool proceed();

    void take(QueuedResponse answer);

    [[nodiscard]] bool producing() const noexcept { return state_ == State::sending && rest_; }

    /// Sends as much of the response as the socket accepts, and reads nothing. Returns whether
    /// `proceed` can continue.
    [[nodiscard]] bool send();

    /// Called when the timeout of the state has passed, or when a periodic check is due.
    void expire();

    void close() noexcept;

    /// Called when the server stops. Completes a complete request, and rejects an incomplete one.
    void stop();

    /// The connection whose handler the current thread is calling.
    static inline constinit thread_local const Connection* handled_here = nullptr;

    // Used only by the loop.
    std::list<Connection>::iterator place{};
    State listed = State::fresh;                    ///< The state in whose list the connection is.
    std::chrono::steady_clock::time_point since{};  ///< When the connection entered this list.
    bool moved = true;    ///< Set by a change of `state_`, and reset by `Loop::settle`.
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
    bool readable_ = false;     ///< The socket may have unread bytes.
    bool half_closed_ = false;  ///< The client has closed its sending half.
    /// Copy of `half_closed_` for handlers, created with the first request.
    std::shared_ptr<std::atomic<bool>> gone_;
    bool ending_ = false;  ///< The connection is closed after this response.
    bool body_left_ = false;
    bool discarding_ = false;
    bool authorizing_ = false;  ///< The next response is the response of `admission`.

    Input input_;
    HeadReader head_;
    ChunkReader chunks_;
    HttpRequest request_;
    std::uint64_t announced_left_ = 0;  ///< Unread bytes of a body with `Content-Length`.
    std::size_t charged_ = 0;           ///< Bytes reserved in the budget for bodies.
    std::size_t discarded_ = 0;
    std::chrono::steady_clock::time_point began_{};  ///< When reading, or sending, began.
    std::uint64_t progress_ = 0;  ///< Bytes read, or acknowledged by the client, since `began_`.
    std::chrono::steady_clock::time_point progressed_at_{};  ///< When the client last read.
    std::size_t turn_bytes_ = 0;  ///< Bytes read, sent and generated in this iteration.

    std::string output_;   ///< Head of the response, and the body if it is small.
    std::string content_;  ///< A large body, or a chunk of it.
    std::size_t sent_ = 0;
    HttpContent rest_;
    bool chunked_ = false;     ///< Whether the response uses chunked encoding.
    std::uint64_t given_ = 0;  ///< Bytes of the response accepted by the kernel.
    AnswerMemory memory_;
};

}  // namespace routemaster::detail
