/// @file
/// `HttpApi`: the request handler of the HTTP API, without a socket.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

class JobLeases;
class TimerRequests;

/// Settings of an `HttpApi`.
struct HttpApiOptions {
    std::string root_key{};             ///< The operator's token. Not empty, and without a colon.
    bool allow_http_callbacks = false;  ///< Allows http:// and loopback callbacks.
    std::size_t event_data_max = event_data_max_default;  ///< See `BusOptions`.
    /// Validation rules for events and topic names. `urls` must be `https` or `any`.
    EventRules event_rules{.urls = UrlRule::https};
    /// Maximum number of topics that a client may subscribe to, and that it may own; at least 1.
    std::uint32_t topics_max = 1'000;
    /// See `PushOptions::bytes_max`; at most `job_bytes_limit`.
    std::size_t job_bytes_max = routemaster::job_bytes_max;
    Duration scaling_deadline{1'000};  ///< Time span for `/pulse/scaling`; not negative.
    /// `/pulse/scaling` reports a busy bus if at least this many jobs are due within the span.
    std::uint64_t scaling_threshold = 100;
    const Clock* clock = nullptr;  ///< Null: the machine's clock.
    /// Leases jobs to workers over HTTP. A `Runner` must poll it, and it must outlive the requests.
    /// Null: the routes for workers do not exist.
    JobLeases* leases = nullptr;
    /// Acquires timers for clients. A `Runner` must poll it, and it must outlive the requests.
    /// Null: the routes for acquiring timers do not exist.
    TimerRequests* timers = nullptr;
    /// Returns why this process accepts events but cannot deliver them, or nothing. If there is a
    /// reason, `/pulse` responds 503 with this text. Called from any thread, and must not block.
    /// Null: never unhealthy.
    std::function<std::optional<std::string>()> trouble{};
    Log log{};  ///< Receives details of damaged data, which clients must not see.
};

/// Request handler with Ruby Routemaster's routes, and routes for jobs and timers under `/v1/`, by
/// steps of a store. docs/http-api.md lists the routes, and the differences from Ruby Routemaster.
///
/// A request is validated completely before it changes anything, so a rejected request has changed
/// nothing. Responses are sent after the store's reply, so no request with a 2xx response is lost.
///
/// Thread safety: `handle` may be called from any thread. The store and the clock must outlive the
/// object, and the object must outlive the requests that it handles.
class HttpApi {
public:
    /// Throws `Failure` (`invalid`) for invalid options.
    HttpApi(Store& store, HttpApiOptions options);
    ~HttpApi();

    HttpApi(const HttpApi&) = delete;
    HttpApi& operator=(const HttpApi&) = delete;

    /// Handles one request. Calls `respond` inside this call, or later on a thread of the store, or
    /// on the thread that polls `HttpApiOptions::leases` or `HttpApiOptions::timers`. Does not
    /// block.
    void handle(HttpRequest request, HttpResponder respond);

    /// Decides by the head of a request whether its body may be read. Responds 100 if so, 404 if
    /// the route does not exist, and 401 if the credentials are wrong. To be used as the
    /// `admission` of an `HttpServer`. Does not block.
    void authorize(HttpRequest head, HttpResponder respond);

    /// Whether the response to a request may be large: a list, a job or a DEAD batch. To be used as
    /// `HttpServerOptions::answers_large`. May be called from any thread.
    [[nodiscard]] static bool answers_large(const HttpRequest& request) noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
