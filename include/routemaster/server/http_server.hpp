/// @file
/// `HttpServer`: a small asynchronous HTTP/1.1 server. Its handler gets a request and a responder,
/// which may be called at any time, on any thread. A waiting request occupies no thread.

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

/// A request with its complete body. A value, safe to store and to move to another thread.
struct HttpRequest {
    std::string method;         ///< As sent: `GET`, `POST`, …
    std::string path;           ///< Percent-decoded, without the query.
    std::string query;          ///< The text after the `?` of the target, still percent-encoded.
    std::string authorization;  ///< The `Authorization` header; empty if absent.
    std::string content_type;   ///< The `Content-Type` header; empty if absent.
    std::string idempotency_key{};   ///< The `Idempotency-Key` header; empty if absent.
    std::string body;                ///< Exactly the bytes sent by the client.
    bool has_authorization = false;  ///< Distinguishes an empty header from an absent one.
    /// Set to true when the client has closed its connection, or its sending half. Null: unknown.
    /// May be read from any thread, for example by handlers that respond late.
    std::shared_ptr<const std::atomic<bool>> client_gone{};
    /// Reserves memory for a large response, before the handler creates the response. If
    /// `answer_bytes_max` is exhausted, returns false, and the server has responded with 503; the
    /// handler then must not respond. The actual size of the response later replaces the
    /// reservation. Call it before the response, at most once. Empty for other methods than GET and
    /// HEAD, because their responses are never rejected.
    std::function<bool(std::size_t bytes)> reserve_answer{};
};

/// Generator of a large body in chunks, called as the client reads. Appends the next chunk, at
/// least one byte, and returns whether more chunks follow. Called on a thread of the server, and
/// must not block. Chunks of about 64 KiB do not delay other requests. If it throws, the connection
/// is closed.
using HttpContent = std::function<bool(std::string& part)>;

/// A response of a handler.
struct HttpResponse {
    int status = 200;  ///< From 200 on. A 204 is sent without body and `content_type`.
    std::string body;
    std::string content_type;  ///< If empty, no `Content-Type` header is sent.
    /// Further headers. The server adds `Connection`, `Content-Length`, `Transfer-Encoding` and
    /// `Date`.
    std::vector<std::pair<std::string, std::string>> headers;
    /// Generates the rest of the body, after `body`, which is then sent with chunked encoding. For
    /// an HTTP/1.0 client, the body ends with the connection instead. Empty: `body` is complete.
    HttpContent rest{};
    std::size_t rest_bytes = 0;  ///< Memory used by `rest`; counts for `answer_bytes_max`.
};

/// Function that responds to a request. It may be called once, at any time, on any thread; further
/// calls do nothing. If all copies are destroyed uncalled, the response is 500. It may outlive the
/// client and the server, and then does nothing.
using HttpResponder = std::function<void(HttpResponse)>;

/// Function that handles a request. It may be called concurrently, and must not block. If it throws
/// before it has responded, the response is 500.
using HttpHandler = std::function<void(HttpRequest, HttpResponder)>;

/// Settings of an `HttpServer`.
struct HttpServerOptions {
    std::string address = "127.0.0.1";  ///< Numeric IPv4 or IPv6 address to listen on.
    std::uint16_t port = 0;             ///< 0: any free port; see `HttpServer::port`.
    unsigned threads = 0;               ///< Number of event loops; 0: one per processor.
    std::size_t body_max = 1U << 20U;   ///< In bytes; the response to a larger body is 413.
    /// Maximum bytes of the bodies of all requests without a response, including bodies that are
    /// still arriving. The response to a request beyond the limit is 503. A single body of
    /// `body_max` is always accepted. 0: 64 MiB, or an eighth of the memory limit of the process
    /// (`ulimit -v`, `ulimit -d`, cgroup) if that is less.
    std::size_t buffered_bytes_max = 0;
    /// Maximum bytes of all unread responses of more than 4 KiB, and of all reservations of
    /// `HttpRequest::reserve_answer`. The response to a GET beyond the limit is 503. Responses to
    /// other methods are always sent, because their requests have already had their effect. Above
    /// half of the limit, the server closes the connection of a client that reads nothing for a
    /// second. 0: as for `buffered_bytes_max`.
    std::size_t answer_bytes_max = 0;
    /// Requests with a body of at least this many bytes are handled on separate threads, half as
    /// many as event loops, so that they do not delay other requests.
    std::size_t large_body_min = 16U << 10U;
    /// Whether the response to a GET may be large. Such requests are handled on the same separate
    /// threads. Called on the event loops; must not throw. Empty: no response is large.
    std::function<bool(const HttpRequest&)> answers_large{};
    /// Maximum number of open connections. Beyond this limit, a new connection replaces the
    /// connection with the oldest incomplete request, or the longest idle one, if incomplete or
    /// idle for at least 5 s. If there is none, new clients wait in the kernel's accept queue.
    unsigned connections_max = 10'000;
    Duration header_timeout{10'000};  ///< Time for the complete request head to arrive; else 408.
    /// Minimum average rate, in bytes per second, at which a client must send a body (else 408) and
    /// read a response (else the connection is closed), after a grace period of `header_timeout`.
    /// At least 1. The connection is also closed if the client reads nothing for `header_timeout`.
    std::uint64_t body_rate_min = 10'000;
    Duration idle_timeout{60'000};  ///< Timeout of idle connections; rounded up to seconds.
    Log log{};                      ///< Receives rejected and malformed requests.
};

/// An HTTP server with its event loops. It accepts requests from its construction until `stop` or
/// its destruction.
///
/// The server itself rejects the following requests. It then closes the connection, unless it can
/// tell where the next request begins.
///
/// | Status | When |
/// |---|---|
/// | 400 | The request is malformed or ambiguous: a proxy could read it differently. |
/// | 408 | The head or the body arrived too slowly. |
/// | 413 | The body is too large; sent as soon as the size is known. |
/// | 414, 431 | The request line, or the head, or the trailers, exceed 16 KiB. |
/// | 417 | `Expect` is not `100-continue`. |
/// | 501 | `Transfer-Encoding` is not `chunked`. |
/// | 503 | Bodies or responses use too much memory, or the server stops; with `Retry-After`. |
/// | 505 | The version is neither HTTP/1.0 nor HTTP/1.1. |
///
/// The server logs these rejections at most once a second, with their number.
///
/// Thread safety: all members may be called from any thread, the destructor from one thread.
class HttpServer {
public:
    /// Starts listening. Throws `Failure` (`invalid`: the address is wrong; `unavailable`: the
    /// address is in use or not permitted), with the address and port in its text.
    ///
    /// `admission`, if present, is called for a request whose body has not fully arrived with its
    /// head, before the server reads more of the body. It gets the request without its body. If it
    /// responds 100, the server reads the body and calls `handler`. Any other response is sent to
    /// the client, and the body is discarded.
    HttpServer(HttpServerOptions options, HttpHandler handler, HttpHandler admission = {});

    /// Calls `stop(0)`. If `stop` would throw, the destructor ends the program with a message.
    ~HttpServer();

    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// The port on which the server listens.
    [[nodiscard]] std::uint16_t port() const;

    /// Stops the server: accepts no more connections, responds 503 to incomplete requests, and
    /// waits up to `grace` for the responses to all other requests. Then responds 503 to the
    /// remaining requests, and closes all connections. Afterwards no handler runs. Repeating the
    /// call does nothing. Throws `Failure` with `invalid` inside a handler, and inside a completion
    /// of a store.
    void stop(Duration grace);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
