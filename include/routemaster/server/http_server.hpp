/// @file
/// `HttpServer`: a small asynchronous HTTP/1.1 server. A request is a value with a responder, which
/// may be called at any time and from any thread. A waiting request occupies no thread.

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

/// A request, complete with its body. A value, safe to keep and to move to another thread.
struct HttpRequest {
    std::string method;              ///< As sent: `GET`, `POST`, …
    std::string path;                ///< Percent-decoded, without the query.
    std::string query;               ///< The part behind the `?` of the target, still encoded.
    std::string authorization;       ///< The `Authorization` header; empty if absent.
    std::string content_type;        ///< The `Content-Type` header; empty if absent.
    std::string idempotency_key{};   ///< The `Idempotency-Key` header; empty if absent.
    std::string body;                ///< Exactly the bytes sent by the client.
    bool has_authorization = false;  ///< Distinguishes an empty header from an absent one.
    /// Becomes true when the client has closed its connection, or its sending half. Null: unknown.
    /// May be read from any thread, by handlers that respond late.
    std::shared_ptr<const std::atomic<bool>> client_gone{};
    /// Reserves memory for a large response before a handler makes the response. If
    /// `answer_bytes_max` is exhausted, the server responds with 503 at once, and the function
    /// returns false: the handler then has nothing to do. The response replaces the reservation by
    /// its real size. Call it before the response, at most once. Empty for other methods than GET
    /// and HEAD, whose responses are never refused.
    std::function<bool(std::size_t bytes)> reserve_answer{};
};

/// Produces a large body part by part, while the client reads it. Appends the next part, at least
/// one byte, and returns whether more parts follow. Called from a thread of the server, and must
/// not block. Parts of about 64 KiB do not delay other requests. After an exception the connection
/// is closed.
using HttpContent = std::function<bool(std::string& part)>;

/// A response.
struct HttpResponse {
    int status = 200;  ///< From 200 on. A 204 is sent without body and `content_type`.
    std::string body;
    std::string content_type;  ///< No `Content-Type` header if empty.
    /// Further headers. The server itself writes `Connection`, `Content-Length`,
    /// `Transfer-Encoding` and `Date`.
    std::vector<std::pair<std::string, std::string>> headers;
    /// Produces the rest of the body, after `body`. The response is then sent in chunks; to a
    /// client of HTTP/1.0, the end of the connection ends it. Empty: no more parts.
    HttpContent rest{};
    std::size_t rest_bytes = 0;  ///< Memory that `rest` uses; counts for `answer_bytes_max`.
};

/// Responds to a request. Call it once, at any time, from any thread; further calls do nothing. If
/// all copies are destroyed without a call, the response is 500. A responder may outlive the client
/// and the server; it then does nothing.
using HttpResponder = std::function<void(HttpResponse)>;

/// Handles a request. Several threads may call it at once; must not block. If it throws before it
/// has responded, the response is 500.
using HttpHandler = std::function<void(HttpRequest, HttpResponder)>;

/// Settings of an `HttpServer`.
struct HttpServerOptions {
    std::string address = "127.0.0.1";  ///< A numeric IPv4 or IPv6 address to listen at.
    std::uint16_t port = 0;             ///< 0: any free port; see `HttpServer::port`.
    unsigned threads = 0;               ///< Event loops; 0: one per processor.
    std::size_t body_max = 1U << 20U;   ///< Bytes; the response to a larger body is 413.
    /// Limit for the bodies of all requests without a response, in bytes, including bodies that are
    /// still arriving. The response to a request beyond the limit is 503. A single body of
    /// `body_max` always fits. 0: 64 MiB, or an eighth of the memory limit of the process (`ulimit
    /// -v`, `ulimit -d`, cgroup) if that is less.
    std::size_t buffered_bytes_max = 0;
    /// Limit for all responses of more than 4 KiB that their clients have not read yet, and for all
    /// reservations of `HttpRequest::reserve_answer`, in bytes. A GET whose response exceeds the
    /// limit gets a 503. The response to any other method is sent, because the request has already
    /// been done. From half of the limit on, the server closes the connection of a client that
    /// reads nothing for a second. 0: as for `buffered_bytes_max`.
    std::size_t answer_bytes_max = 0;
    /// Requests with a body of at least this many bytes are handled by separate threads, half as
    /// many as event loops, in order not to delay other requests.
    std::size_t large_body_min = 16U << 10U;
    /// Whether the response to a GET may be large. These threads handle such a request as well.
    /// Called by the event loops; must not throw. Empty: no response is large.
    std::function<bool(const HttpRequest&)> answers_large{};
    /// Connections open at once. Beyond this, a new connection replaces the connection with the
    /// oldest incomplete request, or the longest idle one, if incomplete or idle for at least 5 s.
    /// If there is none, clients wait in the kernel's queue.
    unsigned connections_max = 10'000;
    Duration header_timeout{10'000};  ///< Time for the complete head to arrive; else 408.
    /// Minimal average rate, in bytes per second, at which a client must send a body (else 408) and
    /// read a response (else the connection is closed), after a grace period of `header_timeout`.
    /// At least 1. The connection is also closed if the client reads nothing for `header_timeout`.
    std::uint64_t body_rate_min = 10'000;
    Duration idle_timeout{60'000};  ///< Closes an idle connection; rounded up to seconds.
    Log log{};                      ///< Receives reports of refused and malformed requests.
};

/// A listening server. The server accepts requests from its construction on, until `stop` or
/// destruction.
///
/// The server itself refuses the requests below. It then closes the connection, unless it knows
/// where the next request begins.
///
/// | Status | When |
/// |---|---|
/// | 400 | The request is malformed or ambiguous: a proxy could read it differently. |
/// | 408 | The head or the body came too slowly. |
/// | 413 | The body is too large; sent as soon as the size is known. |
/// | 414, 431 | The request line, or the head, or the trailers, exceed 16 KiB. |
/// | 417 | `Expect` is not `100-continue`. |
/// | 501 | `Transfer-Encoding` is not `chunked`. |
/// | 503 | Bodies or responses take too much memory, or the server stops; with `Retry-After`. |
/// | 505 | The version is neither HTTP/1.0 nor HTTP/1.1. |
///
/// The server logs these refusals at most once a second, with their number.
///
/// Thread safety: all members may be called from any thread, the destructor from one thread.
class HttpServer {
public:
    /// Listens at once. Throws `Failure` (`invalid`: the address is wrong; `unavailable`: the
    /// address is in use or not permitted), with the address and port in its text.
    ///
    /// `admission`, if present, is called for a request whose body has not arrived with its head,
    /// before the server reads more of the body; the request is passed without its body. If the
    /// response is 100, the server reads the body and calls `handler`. Any other response is sent
    /// to the client, and the body is discarded.
    HttpServer(HttpServerOptions options, HttpHandler handler, HttpHandler admission = {});

    /// Calls `stop(0)`. Where `stop` throws, the destructor ends the program with a message.
    ~HttpServer();

    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// The port at which the server listens.
    [[nodiscard]] std::uint16_t port() const;

    /// Stops the server: accepts no more connections, responds 503 to incomplete requests, and
    /// waits up to `grace` for the responses to all other requests. Then responds 503 to the
    /// remaining requests, and closes all connections. Afterwards no handler runs. Repeating the
    /// call does nothing. Inside a handler, and inside a completion of a store, throws `Failure`
    /// with `invalid`.
    void stop(Duration grace);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
