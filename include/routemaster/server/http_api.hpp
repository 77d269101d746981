/// @file
/// The HTTP API of the bus: what each route does, without a socket.

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
    std::string root_key{};  ///< The token of the operator. Not empty, and without a colon.
    bool allow_http_callbacks = false;  ///< Lets subscribers name http:// and loopback callbacks.
    std::size_t event_data_max = event_data_max_default;  ///< See `BusOptions`.
    /// What is asked of events, and of the topics of subscriptions. Its URLs are `https` or `any`.
    EventRules event_rules{.urls = UrlRule::https};
    /// Topics that one client may subscribe to, and topics that it may own; at least 1.
    std::uint32_t topics_max = 1'000;
    /// See `PushOptions::bytes_max`; at most `job_bytes_limit`.
    std::size_t job_bytes_max = routemaster::job_bytes_max;
    Duration scaling_deadline{1'000};       ///< How far ahead `/pulse/scaling` looks; not negative.
    std::uint64_t scaling_threshold = 100;  ///< Due jobs from which it reports a busy bus.
    const Clock* clock = nullptr;           ///< Null: the machine's clock.
    /// Leases jobs to workers over HTTP; a `Runner` polls it. Must outlive the requests. Null:
    /// there are no routes for that.
    JobLeases* leases = nullptr;
    /// The same for timers that clients take.
    TimerRequests* timers = nullptr;
    /// Returns why the bus accepts events but cannot deliver them, as far as this process knows;
    /// `/pulse` then answers 503 with that text. Called from any thread, and must not block. Null:
    /// never.
    std::function<std::optional<std::string>()> trouble{};
    Log log{};  ///< Gets what clients must not see: reports of damage.
};

/// Answers the routes of Ruby Routemaster from a store, and those about jobs and timers, under
/// `/v1/`.
/// docs/http-api.md lists the routes, and where they differ from Ruby Routemaster.
///
/// Validation comes before any change: a refused request has changed nothing. It answers once the
/// store has replied, so nothing that was answered 2xx can be lost.
///
/// Thread safety: `handle` may be called from any thread. The store and clock must outlive it, and
/// it must outlive the requests that it handles.
class HttpApi {
public:
    /// Throws `Failure` (`invalid`) for invalid options.
    HttpApi(Store& store, HttpApiOptions options);
    ~HttpApi();

    HttpApi(const HttpApi&) = delete;
    HttpApi& operator=(const HttpApi&) = delete;

    /// Answers one request: inside this call, or later from a thread of the store, or of the one
    /// that polls `HttpApiOptions::leases` or `HttpApiOptions::timers`. Does not block.
    void handle(HttpRequest request, HttpResponder respond);

    /// Decides by the head of a request whether to read its body: answers 100 if so, 404 when there
    /// is no such route, 401 when the credentials are wrong. Meant for the admission of an
    /// `HttpServer`. Does not block.
    void authorize(HttpRequest head, HttpResponder respond);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
