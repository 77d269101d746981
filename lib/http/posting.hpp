/// @file
/// One POST on its way: a libcurl handle with all it refers to.

#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "routemaster/codec/delivery_body.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/transport/http.hpp"
#include "socket_watch.hpp"

namespace routemaster::detail {

/// What is to be posted, and who wants to know.
struct Submission {
    std::string url;
    std::string user;  ///< Goes with the password `x`.
    DeliveryBody body;
    DeliveryDone done;
};

/// A reusable POST. The handle keeps its settings; only what differs is set for each submission.
///
/// Request headers are custom ones, since only their order is kept: libcurl writes its own in
/// another order than the original bus did.
///
/// Thread safety: one thread.
class Posting {
public:
    /// `options` and `watch` must outlive it; `watch` hears of sockets opened and closed, also
    /// after this posting is gone, as long as their connections are kept. Throws `Failure` when
    /// there is no memory.
    Posting(const HttpTransportOptions& options, SocketWatch& watch);

    Posting(const Posting&) = delete;
    Posting& operator=(const Posting&) = delete;

    /// Makes the handle ready to post `submission`. On failure too it is there to be taken back.
    [[nodiscard]] Result<void> begin(Submission submission);

    /// Gives back what `begin` was given. libcurl must be done with the handle.
    [[nodiscard]] Submission take() { return std::exchange(submission_, {}); }

    /// Whether it was given something that was not taken back.
    [[nodiscard]] bool is_busy() const noexcept { return submission_.done != nullptr; }

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
    enum Line : std::size_t { user_agent, authorization, content_type, expect, line_count };

    static std::size_t write(char* bytes, std::size_t size, std::size_t count, void* self);
    static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
    static int close_socket(void* watch, curl_socket_t socket);

    void set_up();
    void set_up_headers();
    [[nodiscard]] Error failure(CURLcode code) const;
    [[nodiscard]] std::string problem(CURLcode code) const;

    const HttpTransportOptions& options_;
    SocketWatch& watch_;
    std::unique_ptr<CURL, Cleanup> handle_;
    std::array<std::string, line_count> lines_;
    std::array<curl_slist, line_count> headers_{};
    std::array<char, CURL_ERROR_SIZE> error_{};
    Submission submission_;
    std::size_t received_ = 0;  ///< Bytes of the answer's body.
    std::string refused_;       ///< The address that was refused, if one was.
    bool tried_ = false;        ///< Whether an address was not refused.
};

}  // namespace routemaster::detail
