/// @file
/// One POST under way: a libcurl handle with all it refers to.

#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "name_resolver.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/transport/http.hpp"
#include "routemaster/uid.hpp"
#include "this_machine.hpp"
#include "tls_meter.hpp"

namespace routemaster::detail {

/// A request to post, and the function that gets its result.
struct PostRequest {
    std::string url{};
    std::string user{};  ///< Sent with the password `x`.
    Uid batch{};
    std::uint32_t attempt = 1;
    TimePoint created_at{};
    MessageList messages{};  ///< What `body` is made of, where it is empty.
    DeliveryBody body{};
    DeliveryDone done{};

    std::shared_ptr<CURLU> parsed{};  ///< `url`; libcurl reads it until the request is done.

    std::string resolve{};   ///< The host's addresses in libcurl's format; empty for none.
    Duration has_waited{0};  ///< For its addresses; counts towards the timeouts.
};

/// A reusable POST. The handle keeps its settings; each request sets only what differs.
///
/// Request headers are custom ones, since libcurl keeps only their order: it writes its own in
/// another order than Ruby Routemaster.
///
/// Thread safety: one thread.
class HttpPost {
public:
    /// All must outlive it, and `budget` its connections. Throws `Failure` when there is no memory.
    HttpPost(const HttpTransportOptions& options, ThisMachine& machine, TurnBudget& budget);

    HttpPost(const HttpPost&) = delete;
    HttpPost& operator=(const HttpPost&) = delete;

    /// Makes the handle ready to post `request`, which has `parsed`.
    void begin(PostRequest request);

    /// Returns the request that `begin` got. libcurl must be done with the handle.
    [[nodiscard]] PostRequest take() {
        share_.reset();
        return std::exchange(request_, {});
    }

    /// Whether it has a request that `take` has not returned yet.
    [[nodiscard]] bool is_busy() const noexcept { return request_.done != nullptr; }

    /// Whether it has begun to connect, and is not connected yet.
    [[nodiscard]] bool is_connecting() const;
    /// Has libcurl work on it with the next call, although it has no socket.
    void nudge() const;

    /// Notes the socket that libcurl uses for it.
    void goes_over(curl_socket_t socket) noexcept {
        if (std::exchange(socket_, socket) != socket) before_.reset();
    }

    /// The socket that libcurl used last for it; `CURL_SOCKET_BAD` while there was none.
    [[nodiscard]] curl_socket_t socket() const noexcept { return socket_; }
    /// Whether something has come over it that libcurl has not read.
    [[nodiscard]] bool has_unread() const noexcept;

    /// When it is to end, unless it has a connection by then, and time left for its answer.
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
        return deadline_;
    }
    /// Moves the deadline to the end of the time for the answer. False if it is overdue.
    [[nodiscard]] bool extend();
    /// The result of a delivery that is overdue.
    [[nodiscard]] Error overdue() const;

    /// The result of the delivery, from libcurl's code for the transfer.
    [[nodiscard]] Result<void> outcome(CURLcode code) const;
    /// Whether the status of the answer is a permanent failure.
    [[nodiscard]] bool permanent() const;

    [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }

private:
    using Clock = std::chrono::steady_clock;

    struct Cleanup {
        void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    };

    /// Header lines in the order they are sent.
    enum Line : std::size_t {
        user_agent,
        authorization,
        content_type,
        expect,
        batch,
        attempt,
        age,
        line_count
    };

    static std::size_t read_header(char* bytes, std::size_t size, std::size_t count, void* self);
    static std::size_t read_body(char* bytes, std::size_t size, std::size_t count, void* self);
    static int progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t uploaded);
    static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);

    void set_up();
    void set_up_answer();
    void set_up_tls(TurnBudget& budget);
    void set_up_headers();
    void begin_headers();
    [[nodiscard]] bool has_connection() const;
    [[nodiscard]] Clock::time_point end_of(Duration limit, Clock::time_point now) const;
    void refuse_answer(std::string reason);
    [[nodiscard]] bool is_too_long(std::size_t more);
    [[nodiscard]] std::int64_t wire_max() const noexcept;
    [[nodiscard]] bool exceeds_wire_max(curl_off_t uploaded);
    [[nodiscard]] std::optional<std::uint64_t> received_by_socket() const;
    [[nodiscard]] Error failure(CURLcode code) const;
    [[nodiscard]] std::string problem(CURLcode code) const;

    const HttpTransportOptions& options_;
    ThisMachine& machine_;
    std::unique_ptr<CURL, Cleanup> handle_;
    std::array<std::string, line_count> lines_;
    std::array<curl_slist, line_count> headers_{};
    curl_slist resolve_{};
    std::array<char, CURL_ERROR_SIZE> error_{};
    PostRequest request_;
    Clock::time_point deadline_{};
    Clock::time_point answer_deadline_{};
    std::size_t received_ = 0;       ///< Bytes of the answer: headers, body, trailers.
    std::size_t received_head_ = 0;  ///< Bytes that its headers count as; see `head_max`.
    std::size_t parts_ = 0;          ///< In which its body came.
    bool head_ended_ = false;        ///< Whether the empty line behind them came.
    curl_socket_t socket_ = CURL_SOCKET_BAD;
    std::optional<TlsMeter::Share> share_{};  ///< Of the connection, over TLS.
    curl_off_t uploaded_ = 0;                 ///< Bytes of the body that libcurl has sent.
    std::int64_t turns_ = 0;                  ///< Since then: how often libcurl has worked on it.
    std::optional<std::uint64_t> before_{};   ///< Bytes the connection had received before.
    std::string refused_answer_;              ///< Why the answer was cut off, if it was.
    std::string refused_;                     ///< The address that was refused, if one was.
    bool tried_ = false;                      ///< Whether it tried to connect.
    std::error_code no_socket_;               ///< Why no socket could be opened.
};

}  // namespace routemaster::detail
