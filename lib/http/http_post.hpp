/// @file
/// `HttpPost`: a POST under way, as a libcurl handle with all data that the handle refers to.

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

struct PostRequest {
    std::string url{};
    std::string user{};  ///< Sent with the password `x`.
    Uid batch{};
    std::uint32_t attempt = 1;
    TimePoint created_at{};
    MessageList messages{};  ///< Converted to `body` if `body` is empty.
    DeliveryBody body{};
    DeliveryDone done{};

    std::shared_ptr<CURLU> parsed{};  ///< `url`; libcurl uses it until the request is done.

    std::string resolve{};   ///< Addresses of the host in libcurl's format, or empty.
    Duration has_waited{0};  ///< The time spent on name lookup; part of the timeouts.

    /// How long the request may wait for a socket, if the process had none for it.
    std::optional<std::chrono::steady_clock::time_point> starves_until{};
};

/// A reusable POST. The handle keeps the settings that all requests share.
///
/// The request headers are custom headers: libcurl would send its own headers in another order than
/// Ruby Routemaster does.
///
/// Thread safety: one thread.
class HttpPost {
public:
    /// All arguments must outlive this object, and `budget` also the connections. Throws `Failure`
    /// if memory runs out.
    HttpPost(const HttpTransportOptions& options, ThisMachine& machine, TurnBudget& budget);

    HttpPost(const HttpPost&) = delete;
    HttpPost& operator=(const HttpPost&) = delete;

    /// Prepares the handle for `request`. `request.parsed` must be set.
    void begin(PostRequest request);

    /// Returns the request of `begin`. libcurl must have finished with the handle.
    [[nodiscard]] PostRequest take() {
        share_.reset();
        return std::exchange(request_, {});
    }

    /// Whether there is a request that `take` has not returned yet.
    [[nodiscard]] bool is_busy() const noexcept { return request_.done != nullptr; }

    /// Whether a connection attempt is running.
    [[nodiscard]] bool is_connecting() const;
    /// Makes libcurl process this transfer in the next call, even if the transfer has no socket.
    void nudge() const;

    void goes_over(curl_socket_t socket) noexcept {
        if (std::exchange(socket_, socket) != socket) before_.reset();
    }

    /// The socket that libcurl used last for this transfer; `CURL_SOCKET_BAD` if there was no
    /// socket.
    [[nodiscard]] curl_socket_t socket() const noexcept { return socket_; }
    /// Whether the socket has received data that libcurl has not read.
    [[nodiscard]] bool has_unread() const noexcept;

    /// When the transfer must end, unless `extend` can move the deadline.
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
        return deadline_;
    }
    /// Moves the deadline from the end of the connect timeout to the end of the total timeout.
    /// False if the transfer is overdue: it has no connection, or the total timeout has passed.
    [[nodiscard]] bool extend();
    [[nodiscard]] Error overdue() const;

    /// The result of the delivery. `code` is libcurl's code for the transfer.
    [[nodiscard]] Result<void> outcome(CURLcode code) const;
    [[nodiscard]] bool permanent() const;
    /// Whether the transfer could open no socket, because the process lacks descriptors or memory.
    [[nodiscard]] bool is_starved() const noexcept;
    /// Closes the connection at the end of the transfer.
    void forbid_reuse() const;

    [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }

private:
    using Clock = std::chrono::steady_clock;

    struct Cleanup {
        void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    };

    /// Header lines, in the order of sending.
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
    std::size_t received_ = 0;       ///< Bytes of the response: headers, body, trailers.
    std::size_t received_head_ = 0;  ///< Weight of the headers; see `head_max`.
    std::size_t parts_ = 0;
    bool head_ended_ = false;  ///< Whether the empty line after the headers has arrived.
    curl_socket_t socket_ = CURL_SOCKET_BAD;
    std::optional<TlsMeter::Share> share_{};
    curl_off_t uploaded_ = 0;
    std::int64_t turns_ = 0;                 ///< Calls of `progress` since the last upload.
    std::optional<std::uint64_t> before_{};  ///< Bytes that the connection had received before.
    std::string refused_answer_;             ///< Why the response was cut off, if so.
    std::string refused_;                    ///< The refused address, if any.
    bool tried_ = false;                     ///< Whether a connection attempt was made.
    std::error_code no_socket_;              ///< Why no socket could be opened.
};

}  // namespace routemaster::detail
