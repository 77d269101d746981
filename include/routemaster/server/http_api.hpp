/// @file
/// `HttpApi`: the routes of the HTTP API, without a socket.

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
    /// Rules for events, and for the topics of subscriptions. `urls` must be `https` or `any`.
    EventRules event_rules{.urls = UrlRule::https};
    /// How many topics a client may subscribe to, and how many it may own; at least 1.
    std::uint32_t topics_max = 1'000;
    /// See `PushOptions::bytes_max`; at most `job_bytes_limit`.
    std::size_t job_bytes_max = routemaster::job_bytes_max;
    Duration scaling_deadline{1'000};  ///< How far ahead `/pulse/scaling` looks; not negative.
    /// If at least this many jobs are due, `/pulse/scaling` reports a busy bus.
    std::uint64_t scaling_threshold = 100;
    const Clock* clock = nullptr;  ///< Null: the machine's clock.
    /// Leases jobs to workers over HTTP; a `Runner` polls it. Must outlive the requests. Null: the
    /// routes for workers do not exist.
    JobLeases* leases = nullptr;
    /// Takes timers for clients; a `Runner` polls it. Must outlive the requests. Null: the routes
    /// for taking timers do not exist.
    TimerRequests* timers = nullptr;
    /// Returns why the bus accepts events but cannot deliver them, as far as this process knows;
    /// `/pulse` then responds 503 with this text. Called from any thread, and must not block. Null:
    /// never unhealthy.
    std::function<std::optional<std::string>()> trouble{};
    Log log{};  ///< Receives reports of damage, which clients must not see.
};

/// Handles the routes of Ruby Routemaster, and the routes for jobs and timers under `/v1/`, by
/// steps of a store. docs/http-api.md lists the routes, and the differences from Ruby Routemaster.
///
/// All validation comes before any change: a refused request has changed nothing. The response
/// comes after the store's reply, and so no request with a 2xx response can be lost.
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

    /// Handles one request. Calls `respond` inside this call, or later from a thread of the store,
    /// or from the thread that polls `HttpApiOptions::leases` or `HttpApiOptions::timers`. Does not
    /// block.
    void handle(HttpRequest request, HttpResponder respond);

    /// Decides by the head of a request whether to read its body. Responds 100 to read the body,
    /// 404 if the route does not exist, 401 if the credentials are wrong. For use as the admission
    /// of an `HttpServer`. Does not block.
    void authorize(HttpRequest head, HttpResponder respond);

    /// Whether the response to a request may be large: a list, a job or a DEAD batch. For
    /// `HttpServerOptions::answers_large`. May be called from any thread.
    [[nodiscard]] static bool answers_large(const HttpRequest& request) noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
