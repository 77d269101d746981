/// @file
/// One client, from its first byte to its last.

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

/// Reads requests, passes them to the handler, and writes the answers. It never waits: the loop
/// notifies it when its socket is ready, when its answer has come, and when its time is up, and
/// keeps it in the list of its state.
///
/// ```
///  fresh ──► head ──► body ──► waiting ──► sending ──┬──► idle ──► head …
///              │     (waiting      │        ▲        ├──► body (what is left of a refused one)
///              │   for admission)  ▼        │        ├──► lingering ──► closed
///              │               abandoned    │        └──► closed
///              └──── refused ───────────────┘
/// ```
/// The client of a `lingering` connection got its answer before it had sent everything. Closing a
/// socket with unread bytes resets the connection, and the reset destroys an answer on its way. So
/// the server closes only the sending half, and reads and discards what still comes. The client of
/// an `abandoned` connection is gone, but the handler has not answered yet.
///
/// Thread safety: whoever has the turn of its loop.
class Connection {
public:
    enum class State {
        fresh,  ///< Nothing has come yet.
        idle,   ///< Nothing of the next request has come yet.
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

    /// Notes that the socket has become ready for `events`, of epoll.
    void notice(std::uint32_t events) noexcept;

    /// Does what can be done now, a bounded amount; true when there is more.
    [[nodiscard]] bool proceed();

    /// Gets the answer that it waits for.
    void take(QueuedResponse answer);

    /// Whether the next steps produce a large answer.
    [[nodiscard]] bool producing() const noexcept { return state_ == State::sending && rest_; }

    /// Sends what the socket accepts of the answer, and reads nothing. True when `proceed` can do
    /// more.
    [[nodiscard]] bool send();

    /// Called when its state has lasted as long as it may, or when the next check is due.
    void expire();

    /// Ends it at once.
    void close() noexcept;

    /// The server is stopping: serves a complete request, and refuses an incomplete one.
    void stop();

    /// The connection whose handler runs on this thread.
    static inline constinit thread_local const Connection* handled_here = nullptr;

    // Bookkeeping of the loop.
    std::list<Connection>::iterator place{};        ///< Where the loop keeps it …
    State listed = State::fresh;                    ///< … in which list …
    std::chrono::steady_clock::time_point since{};  ///< … and since when.
    bool moved = true;    ///< It has entered a state since the loop last checked.
    bool queued = false;  ///< It has more to do.

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
    bool readable_ = false;     ///< There may be something to read.
    bool half_closed_ = false;  ///< The client has closed its sending half.
    /// The same, for handlers; made with the first request.
    std::shared_ptr<std::atomic<bool>> gone_;
    bool ending_ = false;       ///< The answer is the last one.
    bool body_left_ = false;    ///< The body of this request has not been read to its end.
    bool discarding_ = false;   ///< The body is read only to get past it.
    bool authorizing_ = false;  ///< The next answer decides whether to read it.

    Input input_;
    HeadReader head_;
    ChunkReader chunks_;
    HttpRequest request_;
    std::uint64_t announced_left_ = 0;  ///< Missing bytes of a body of known length.
    std::size_t charged_ = 0;           ///< Bytes reserved in the budget.
    std::size_t discarded_ = 0;
    std::chrono::steady_clock::time_point began_{};  ///< When reading, or sending, began.
    std::uint64_t progress_ = 0;  ///< Bytes read, or acknowledged by the client, since then.
    std::chrono::steady_clock::time_point progressed_at_{};  ///< When the client last read.
    std::size_t turn_bytes_ = 0;  ///< Bytes read, sent and produced in this turn.

    std::string output_;       ///< Head of the answer, and its body if that is small.
    std::string content_;      ///< A large body, or a part of one.
    std::size_t sent_ = 0;     ///< Of both together.
    HttpContent rest_;         ///< Produces what follows.
    bool chunked_ = false;     ///< What follows is sent in chunks.
    std::uint64_t given_ = 0;  ///< Bytes of the answer that the kernel accepted.
    AnswerMemory memory_;
};

}  // namespace routemaster::detail
