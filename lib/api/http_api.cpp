#include "routemaster/server/http_api.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "exchange.hpp"
#include "route_table.hpp"
#include "routemaster/error.hpp"

namespace routemaster {
namespace api {
namespace {

std::string_view next_segment(std::string_view& path) noexcept {
    const auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
    return segment;
}

bool matches(std::string_view pattern, std::string_view path) noexcept {
    const auto wanted_slashes = std::count(pattern.begin(), pattern.end(), '/');
    const auto slashes = std::count(path.begin(), path.end(), '/');
    const bool open_ended = pattern.find('*') != std::string_view::npos;
    if (slashes < wanted_slashes || (slashes > wanted_slashes && !open_ended)) return false;
    while (!pattern.empty()) {
        if (pattern.starts_with('*')) return !path.empty();
        const auto wanted = next_segment(pattern);
        const auto given = next_segment(path);
        if (wanted.starts_with(':') ? given.empty() : given != wanted) return false;
    }
    return true;
}

/// Returns the route of a request; null if no route matches. Routes for `GET` also match `HEAD`.
const Route* find_route(std::string_view method, std::string_view path) noexcept {
    if (method == "HEAD") method = "GET";
    for (const auto& route : routes) {
        if (route.method == method && matches(route.path, path)) return &route;
    }
    return nullptr;
}

}  // namespace
}  // namespace api

namespace {

Error invalid(const char* text) { return {Errc::invalid, text}; }

HttpApiOptions checked(HttpApiOptions options) {
    if (options.root_key.empty()) throw Failure{invalid("root_key: is missing")};
    if (options.root_key.find(':') != std::string::npos) {
        throw Failure{
            invalid("root_key: must not contain ':', because clients send the key as an HTTP Basic "
                    "user name")};
    }
    if (options.topics_max == 0) throw Failure{invalid("topics_max: must be at least 1")};
    if (options.job_bytes_max > job_bytes_limit) {
        throw Failure{invalid("job_bytes_max: must be at most job_bytes_limit")};
    }
    if (options.event_rules.urls == UrlRule::http) {
        throw Failure{invalid("event_rules: URLs of events are https or any")};
    }
    if (options.scaling_deadline < Duration{0}) {
        throw Failure{invalid("scaling_deadline: must not be negative")};
    }
    return options;
}

}  // namespace

struct HttpApi::Impl {
    Impl(Store& store, HttpApiOptions options) : context{store, checked(std::move(options))} {}

    /// Creates an exchange. If `route` is null, responds with 404 and returns null.
    [[nodiscard]] std::shared_ptr<api::Exchange> begin(const api::Route* route, HttpRequest request,
                                                       HttpResponder respond) {
        auto exchange =
            std::make_shared<api::Exchange>(context, std::move(request), std::move(respond));
        if (route != nullptr) return exchange;
        exchange->answer_text(404, {});
        return nullptr;
    }

    api::Context context;
};

HttpApi::HttpApi(Store& store, HttpApiOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

HttpApi::~HttpApi() = default;

void HttpApi::handle(HttpRequest request, HttpResponder respond) {
    const auto* route = api::find_route(request.method, request.path);
    const auto exchange = impl_->begin(route, std::move(request), std::move(respond));
    if (exchange == nullptr) return;
    api::authorize(*exchange, route->access, route->check, route->handler.run);
}

bool HttpApi::answers_large(const HttpRequest& request) noexcept {
    const auto* route = api::find_route(request.method, request.path);
    return route != nullptr && route->handler.large;
}

void HttpApi::authorize(HttpRequest head, HttpResponder respond) {
    const auto* route = api::find_route(head.method, head.path);
    const auto exchange = impl_->begin(route, std::move(head), std::move(respond));
    if (exchange == nullptr) return;
    api::authorize(*exchange, route->access, api::TokenCheck::before,
                   [](api::Exchange& authorized) { authorized.let_body_come(); });
}

}  // namespace routemaster
