/// @file
/// `HttpPost`: an HTTP POST request in flight: a libcurl handle with all data to which the handle
/// refers.

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
    MessageList messages{};  ///< Encoded into `body` if `body` is empty.
    DeliveryBody body{};
    DeliveryDone done{};

    std::shared_ptr<CURLU> parsed{};  ///< The parsed `url`. libcurl uses it until the request ends.

    std::string resolve{};   ///< Addresses of the host for `CURLOPT_RESOLVE`, or empty.
    Duration has_waited{0};  ///< Duration of the name lookup. It is subtracted from the timeouts.

    /// Until when the request is retried if the process has no descriptor or memory for a socket.
    std::optional<std::chrono::steady_clock::time_point> starves_until{};
};

/// A reusable libcurl easy handle for one POST at a time. The options that all requests share are
/// set once.
///
/// All request headers are custom headers, because libcurl would send its default headers in
/// another order than Ruby Routemaster does.
///
/// Thread safety: one thread.
class HttpPost {
public:
    /// All arguments must outlive this object, and `budget` also the connections. Throws `Failure`
    /// if memory runs out.
    HttpPost(const HttpTransportOptions& options, ThisMachine& machine, TurnBudget& budget);

    HttpPost(const HttpPost&) = delete;
    HttpPost& operator=(const HttpPost&) = delete;

    /// Configures the handle for `request`. `request.parsed` must be set.
    void begin(PostRequest request);

    /// Removes and returns the request of `begin`. libcurl must have finished the transfer.
    [[nodiscard]] PostRequest take() {
        share_.reset();
        return std::exchange(request_, {});
    }

    [[nodiscard]] bool is_busy() const noexcept { return request_.done != nullptr; }

    [[nodiscard]] bool is_connecting() const;
    /// Makes libcurl process this transfer in its next call, even if the transfer has no socket.
    void nudge() const;

    void goes_over(curl_socket_t socket) noexcept {
        if (std::exchange(socket_, socket) != socket) before_.reset();
    }

    /// The socket that libcurl last used for this transfer; `CURL_SOCKET_BAD` if none.
    [[nodiscard]] curl_socket_t socket() const noexcept { return socket_; }
    /// Whether the socket has received bytes that libcurl has not read.
    [[nodiscard]] bool has_unread() const noexcept;

    /// When the transfer must be ended, unless `extend` succeeds.
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
        return deadline_;
    }
    /// Replaces the deadline of the connect timeout by that of the total timeout. Returns false if
    /// the transfer is overdue: it has no connection, or the total timeout has passed.
    [[nodiscard]] bool extend();
    [[nodiscard]] Error overdue() const;

    [[nodiscard]] Result<void> outcome(CURLcode code) const;
    [[nodiscard]] bool permanent() const;
    /// Whether no socket could be opened, because the process has no descriptor or memory left.
    [[nodiscard]] bool is_starved() const noexcept;
    void forbid_reuse() const;

    [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }

private:
    using Clock = std::chrono::steady_clock;

    struct Cleanup {
        void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    };

    /// Indices of the request's header lines, in the order in which they are sent.
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
    std::size_t received_ = 0;       ///< Bytes of headers, body and trailers.
    std::size_t received_head_ = 0;  ///< Bytes and weights of headers; see `head_max`.
    std::size_t parts_ = 0;
    bool head_ended_ = false;  ///< Whether the empty line after the headers has been received.
    curl_socket_t socket_ = CURL_SOCKET_BAD;
    std::optional<TlsMeter::Share> share_{};
    curl_off_t uploaded_ = 0;
    std::int64_t turns_ = 0;  ///< Calls of `progress` since the last upload.
    /// Bytes received by the connection before this transfer.
    std::optional<std::uint64_t> before_{};
    std::string refused_answer_;  ///< Why the response was rejected, if so.
    std::string refused_;         ///< The rejected address, if any.
    bool tried_ = false;          ///< Whether a connection attempt was made.
    std::error_code no_socket_;   ///< Why no socket could be opened.
};

}  // namespace routemaster::detail
