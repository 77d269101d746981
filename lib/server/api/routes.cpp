#include "routes.hpp"

#include "handlers.hpp"

namespace routemaster::api {
namespace {

constexpr Route routes[] = {
    {"POST", "/topics/:name", Access::client, publish_event},
    {"GET", "/topics", Access::client_or_root, list_topics},
    {"DELETE", "/topics/:name", Access::client_or_root, remove_topic},

    {"POST", "/subscription", Access::client, subscribe},
    {"POST", "/subscriber", Access::client, subscribe},
    {"GET", "/subscriptions", Access::root_or_client, list_subscribers},
    {"GET", "/subscribers", Access::root_or_client, list_subscribers},
    {"DELETE", "/subscriber", Access::root_or_client, remove_subscriber},
    {"DELETE", "/subscriber/topics/:name", Access::root_or_client, unsubscribe},

    {"GET", "/api_tokens", Access::root, list_tokens},
    {"POST", "/api_tokens", Access::root, add_token},
    {"DELETE", "/api_tokens/:token", Access::root, remove_token},

    {"GET", "/pulse", Access::root_or_client, tell_pulse},
    {"GET", "/pulse/scaling", Access::root_or_client, tell_load},
    {"GET", "/health", Access::open, tell_health},
    {"GET", "/health/ping", Access::open, tell_time},
    {"GET", "/health/ping.json", Access::open, tell_time},
};

bool matches(std::string_view pattern, std::string_view path) noexcept {
    const auto open = pattern.find(':');
    if (open == std::string_view::npos) return path == pattern;
    return path.size() > open && path.starts_with(pattern.substr(0, open)) &&
           path.find('/', open) == std::string_view::npos;
}

}  // namespace

const Route* find_route(std::string_view method, std::string_view path) noexcept {
    if (method == "HEAD") method = "GET";
    for (const auto& route : routes) {
        if (route.method == method && matches(route.path, path)) return &route;
    }
    return nullptr;
}

}  // namespace routemaster::api
