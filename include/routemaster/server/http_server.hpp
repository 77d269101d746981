/// @file
/// A small asynchronous HTTP/1.1 server: a request is a value, and it is answered when, and from
/// whichever thread, its responder is called. While it waits it holds no thread.

#pragma once

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
    std::string body;                ///< Exactly the bytes that were sent.
    bool has_authorization = false;  ///< Tells an empty header from an absent one.
};

/// One answer.
struct HttpResponse {
    int status = 200;  ///< From 200 on. A 204 is sent without body and `content_type`.
    std::string body;
    std::string content_type;  ///< No `Content-Type` header when empty.
    std::vector<std::pair<std::string, std::string>> headers;  ///< Further headers.
};

/// Answers one request. Call it once, from any thread, at once or later; further calls do nothing.
/// When the last copy is destroyed uncalled, the answer is 500. It may outlive the client and the
/// server: then it does nothing.
using HttpResponder = std::function<void(HttpResponse)>;

/// What the server does with a request. Called from several threads at once; must not block. When
/// it throws, the answer is 500, unless it had answered already.
using HttpHandler = std::function<void(HttpRequest, HttpResponder)>;

/// Settings of an `HttpServer`.
struct HttpServerOptions {
    std::string address = "127.0.0.1";  ///< A numeric IPv4 or IPv6 address to listen at.
    std::uint16_t port = 0;             ///< 0 takes a free one; see `HttpServer::port`.
    unsigned threads = 0;               ///< Event loops; 0 is one per processor.
    std::size_t body_max = 1U << 20U;   ///< Bytes; a larger body is answered 413.
    unsigned connections_max = 10'000;  ///< Further connections wait in the kernel's queue.
    Duration idle_timeout{60'000};      ///< Closes a silent connection; rounded up to seconds.
    Log log{};                          ///< Told about refused and broken requests.
};

/// A listening server. It answers from construction on, until `stop` or destruction.
///
/// Requests that it refuses itself: 400 when it is malformed, 413 when the body is too large (as
/// soon as that is known; no more than the maximum is held), 503 when the server is stopping.
///
/// Thread safety: all members may be called from any thread, the destructor from one.
class HttpServer {
public:
    /// Listens at once. Throws `Failure` (`invalid`: a bad address; `unavailable`: the address is
    /// in use or may not be used), with the address and port in its text.
    HttpServer(HttpServerOptions options, HttpHandler handler);

    /// Stops as `stop(0)` does.
    ~HttpServer();

    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// The port that is listened at.
    [[nodiscard]] std::uint16_t port() const;

    /// Takes no more connections, waits until requests in progress are answered, but at most
    /// `grace`, then answers 503 to the remaining ones and closes all connections. Afterwards no
    /// handler runs any more. Repeating it does nothing. Not to be called by a handler.
    void stop(Duration grace);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
