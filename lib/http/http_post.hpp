/// @file
/// One POST on its way: a libcurl handle with all it refers to.

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
#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/transport/http.hpp"
#include "routemaster/uid.hpp"
#include "this_machine.hpp"

namespace routemaster::detail {

/// What is to be posted, and who wants to know.
struct PostRequest {
    std::string url{};
    std::string user{};  ///< Goes with the password `x`.
    Uid batch{};
    std::uint32_t attempt = 1;
    TimePoint created_at{};
    DeliveryBody body{};
    DeliveryDone done{};

    std::string resolve{};   ///< The host's addresses as libcurl takes them; empty for none.
    Duration has_waited{0};  ///< For its addresses; counts towards the limits on time.
};

/// A reusable POST. The handle keeps its settings; only what differs is set for each request.
///
/// Request headers are custom ones, since only their order is kept: libcurl writes its own in
/// another order than Ruby Routemaster did.
///
/// Thread safety: one thread.
class HttpPost {
public:
    /// Both must outlive it. Throws `Failure` when there is no memory.
    HttpPost(const HttpTransportOptions& options, ThisMachine& machine);

    HttpPost(const HttpPost&) = delete;
    HttpPost& operator=(const HttpPost&) = delete;

    /// Makes the handle ready to post `request`. On failure too it is there to be taken back.
    [[nodiscard]] Result<void> begin(PostRequest request);

    /// Gives back what `begin` was given. libcurl must be done with the handle.
    [[nodiscard]] PostRequest take() { return std::exchange(request_, {}); }

    /// Whether it was given something that was not taken back.
    [[nodiscard]] bool is_busy() const noexcept { return request_.done != nullptr; }

    /// libcurl carries it over this socket.
    void goes_over(curl_socket_t socket) noexcept { socket_ = socket; }

    /// What the end of the transfer means.
    [[nodiscard]] Result<void> outcome(CURLcode code) const;
    /// Whether the status that was answered is a permanent failure.
    [[nodiscard]] bool permanent() const;

    [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }

private:
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
    static int progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
    static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);

    void set_up();
    void set_up_answer();
    void set_up_headers();
    void begin_headers();
    [[nodiscard]] bool is_too_long(std::size_t more);
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
    std::size_t received_ = 0;       ///< Bytes of the answer: headers, body, trailers.
    std::size_t received_head_ = 0;  ///< What its headers weigh; see `head_max`.
    bool head_ended_ = false;        ///< Whether the empty line behind them came.
    curl_socket_t socket_ = CURL_SOCKET_BAD;
    unsigned turns_ = 0;                     ///< How often libcurl was at it.
    std::optional<std::uint64_t> before_{};  ///< What the connection had received earlier.
    std::string too_long_;                   ///< Which bound the answer went beyond, if it did.
    std::string refused_;                    ///< The address that was refused, if one was.
    bool tried_ = false;                     ///< Whether an address was not refused.
    std::error_code no_socket_;              ///< Why there was no socket for one.
};

}  // namespace routemaster::detail
