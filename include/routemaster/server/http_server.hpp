/// @file
/// A small asynchronous HTTP/1.1 server: a request is a value, and whoever calls its responder, at
/// any time and from any thread, answers it. A waiting request occupies no thread.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// One request, complete with its body. Values, safe to keep and to move to another thread.
struct HttpRequest {
    std::string method;              ///< As sent: `GET`, `POST`, …
    std::string path;                ///< Percent-decoded, without the query.
    std::string query;               ///< What follows the `?` of the target, still encoded.
    std::string authorization;       ///< The `Authorization` header; empty when there is none.
    std::string content_type;        ///< The `Content-Type` header; empty when there is none.
    std::string idempotency_key{};   ///< The `Idempotency-Key` header; empty when there is none.
    std::string body;                ///< Exactly the bytes that were sent.
    bool has_authorization = false;  ///< Distinguishes an empty header from an absent one.
    /// True once the client has closed its connection, or the sending half of it. Null: nobody
    /// knows. Handlers that answer late may look at it from any thread.
    std::shared_ptr<const std::atomic<bool>> client_gone{};
};

/// Produces a large body part by part, as the client reads it: appends the next part, at least a
/// byte, and returns whether more will follow. Called from a thread of the server, which must not
/// wait; a part of 64 KiB or so keeps others from waiting. After an exception the connection is
/// closed.
using HttpContent = std::function<bool(std::string& part)>;

/// One answer.
struct HttpResponse {
    int status = 200;  ///< From 200 on. A 204 is sent without body and `content_type`.
    std::string body;
    std::string content_type;  ///< No `Content-Type` header when empty.
    /// Further headers. The server itself writes `Connection`, `Content-Length`,
    /// `Transfer-Encoding` and `Date`.
    std::vector<std::pair<std::string, std::string>> headers;
    /// Produces what follows `body`. The answer is then sent in chunks, and to a client of HTTP/1.0
    /// until the end of the connection. Empty: nothing follows.
    HttpContent rest{};
    std::size_t rest_bytes = 0;  ///< Memory that `rest` holds, for `answer_bytes_max`.
};

/// Answers one request. Call it once, from any thread, at once or later; further calls do nothing.
/// When its last copy is destroyed without a call, the answer is 500. It may outlive the client and
/// the server: then it does nothing.
using HttpResponder = std::function<void(HttpResponse)>;

/// Handles a request. Called from several threads at once; must not block. When it throws, the
/// answer is 500, unless it had answered already.
using HttpHandler = std::function<void(HttpRequest, HttpResponder)>;

/// Settings of an `HttpServer`.
struct HttpServerOptions {
    std::string address = "127.0.0.1";  ///< A numeric IPv4 or IPv6 address to listen at.
    std::uint16_t port = 0;             ///< 0 takes a free one; see `HttpServer::port`.
    unsigned threads = 0;               ///< Event loops; 0 is one per processor.
    std::size_t body_max = 1U << 20U;   ///< Bytes; a larger body is answered 413.
    /// Bytes that the bodies of all requests without an answer may take together, including those
    /// that are still arriving. A request that would take more is answered 503. The largest body
    /// always fits.
    std::size_t buffered_bytes_max = 64U << 20U;
    /// Bytes that all answers of more than 4 KiB may take together until their clients have read
    /// them. A GET whose answer would take more is answered 503; the answer to another method is
    /// sent, since the request has been done. From half of it on, the connection of a client that
    /// reads nothing for a second is closed.
    std::size_t answer_bytes_max = 64U << 20U;
    /// Requests with a body of at least so many bytes are handled by other threads than the event
    /// loops, half as many, so that no other request waits for them.
    std::size_t large_body_min = 16U << 10U;
    /// Connections open at once. Beyond it, a new one replaces the one whose request has been
    /// incomplete for longest, or that has been idle for longest, at least 5 s; if there is none,
    /// clients wait in the kernel's queue.
    unsigned connections_max = 10'000;
    Duration header_timeout{10'000};  ///< For the complete head to arrive, else 408.
    /// Bytes a second at which a client must send a body (else 408) and read an answer (else the
    /// connection is closed), on average, after a grace of `header_timeout`. At least 1. A client
    /// that reads nothing for `header_timeout` is closed as well.
    std::uint64_t body_rate_min = 10'000;
    Duration idle_timeout{60'000};  ///< Closes a silent connection; rounded up to seconds.
    Log log{};                      ///< Gets refused and broken requests.
};

/// A listening server. It serves from construction on, until `stop` or destruction.
///
/// The server itself refuses these requests, and then closes the connection unless it knows where
/// the next request begins:
///
/// | Status | When |
/// |---|---|
/// | 400 | It is malformed, or a proxy could read it differently: the server never guesses. |
/// | 408 | Its head or body came too slowly. |
/// | 413 | Its body is too large; answered as soon as that is known. |
/// | 414, 431 | Request line, or head, or trailers, take more than 16 KiB. |
/// | 417 | Its `Expect` is not `100-continue`. |
/// | 501 | Its `Transfer-Encoding` is not `chunked`. |
/// | 503 | Bodies or answers in memory take too much, or the server is stopping; `Retry-After`. |
/// | 505 | It is neither HTTP/1.0 nor HTTP/1.1. |
///
/// The server logs these refusals at most once a second, with their count.
///
/// Thread safety: all members may be called from any thread, the destructor from one.
class HttpServer {
public:
    /// Listens at once. Throws `Failure` (`invalid`: a bad address; `unavailable`: the address is
    /// in use or may not be used), with the address and port in its text.
    ///
    /// The server calls `admission`, if there is one, for a request whose body has not come with
    /// its head, before it reads more of it; it passes the request without body. After the answer
    /// 100 the server reads the body and calls `handler`; any other one is the answer to the
    /// request, whose body is then discarded.
    HttpServer(HttpServerOptions options, HttpHandler handler, HttpHandler admission = {});

    /// Stops as `stop(0)` does.
    ~HttpServer();

    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// The port it listens on.
    [[nodiscard]] std::uint16_t port() const;

    /// Accepts no more connections, answers 503 to incomplete requests, waits until the others are
    /// answered, but at most `grace`, then answers 503 to the remaining ones and closes all
    /// connections. Afterwards no handler runs. Repeating it does nothing. A handler must not call
    /// it.
    void stop(Duration grace);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
