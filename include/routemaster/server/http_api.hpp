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
#include "routemaster/server/http_server.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of an `HttpApi`.
struct HttpApiOptions {
    std::string root_key{};  ///< The token of the operator. Not empty, and without a colon.
    bool allow_http_callbacks = false;  ///< Lets subscribers name http:// and loopback callbacks.
    std::size_t event_data_max = 64;    ///< Bytes of MessagePack that an event's data may take.
    /// What is asked of events, and of the topics of subscriptions. Its URLs are `https` or `any`.
    EventRules event_rules{.urls = UrlRule::https};
    /// Topics that one client may subscribe to, and that may belong to it; at least 1.
    std::uint32_t topics_max = 1'000;
    Duration scaling_deadline{1'000};       ///< How far ahead `/pulse/scaling` looks; not negative.
    std::uint64_t scaling_threshold = 100;  ///< Due jobs from which it says that the bus is busy.
    const Clock* clock = nullptr;           ///< Null: the machine's clock.
    /// Why the bus takes events in and cannot deliver them, as far as this process knows: then
    /// `/pulse` says it, with 503. Called from any thread, and must not block. Null: never.
    std::function<std::optional<std::string>()> trouble{};
    Log log{};  ///< Told about what clients are not told: damage.
};

/// Answers the routes of Ruby Routemaster from a store. The routes, and where they differ from the
/// original, are listed in docs/http-api.md.
///
/// Validation comes before any change: a request that is refused has changed nothing. Answers are
/// given when the store's are, so nothing that was answered 2xx can be lost.
///
/// Thread safety: `handle` may be called from any thread. The store and clock must outlive it, and
/// it must outlive the requests it was given.
class HttpApi {
public:
    /// Throws `Failure` (`invalid`) when the options make no sense.
    HttpApi(Store& store, HttpApiOptions options);
    ~HttpApi();

    HttpApi(const HttpApi&) = delete;
    HttpApi& operator=(const HttpApi&) = delete;

    /// Answers one request: inside this call, or later from a thread of the store. Does not block.
    void handle(HttpRequest request, HttpResponder respond);

    /// Decides by its head whether the body of a request is worth reading: answers 100 if so, 404
    /// when there is no such route, 401 when it presents the wrong credentials. Meant for the
    /// admission of an `HttpServer`. Does not block.
    void authorize(HttpRequest head, HttpResponder respond);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
