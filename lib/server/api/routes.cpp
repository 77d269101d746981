#include "routes.hpp"

#include <algorithm>

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

    {"GET", "/subscriber/dead", Access::client, list_dead},
    {"GET", "/subscriber/dead/:uid", Access::client, show_dead},
    {"POST", "/subscriber/dead/redeliver", Access::client, redeliver_all_dead},
    {"POST", "/subscriber/dead/:uid/redeliver", Access::client, redeliver_dead},
    {"DELETE", "/subscriber/dead", Access::client, drop_all_dead},
    {"DELETE", "/subscriber/dead/:uid", Access::client, drop_dead},

    {"GET", "/subscribers/:token/dead", Access::root, list_dead},
    {"GET", "/subscribers/:token/dead/:uid", Access::root, show_dead},
    {"POST", "/subscribers/:token/dead/redeliver", Access::root, redeliver_all_dead},
    {"POST", "/subscribers/:token/dead/:uid/redeliver", Access::root, redeliver_dead},
    {"DELETE", "/subscribers/:token/dead", Access::root, drop_all_dead},
    {"DELETE", "/subscribers/:token/dead/:uid", Access::root, drop_dead},

    {"GET", "/api_tokens", Access::root, list_tokens},
    {"POST", "/api_tokens", Access::root, add_token},
    {"DELETE", "/api_tokens/:token", Access::root, remove_token},

    {"GET", "/pulse", Access::root_or_client, tell_pulse},
    {"GET", "/pulse/scaling", Access::root_or_client, tell_load},
    {"GET", "/health", Access::open, tell_health},
    {"GET", "/health/ping", Access::open, tell_time},
    {"GET", "/health/ping.json", Access::open, tell_time},
};

/// Takes the first segment off a path, and returns it.
std::string_view next_segment(std::string_view& path) noexcept {
    const auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
    return segment;
}

bool matches(std::string_view pattern, std::string_view path) noexcept {
    if (std::count(pattern.begin(), pattern.end(), '/') !=
        std::count(path.begin(), path.end(), '/')) {
        return false;
    }
    while (!pattern.empty()) {
        const auto wanted = next_segment(pattern);
        const auto given = next_segment(path);
        if (wanted.starts_with(':') ? given.empty() : given != wanted) return false;
    }
    return true;
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
