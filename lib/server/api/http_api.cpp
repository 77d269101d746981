#include "routemaster/server/http_api.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "exchange.hpp"
#include "routemaster/error.hpp"
#include "routes.hpp"

namespace routemaster {
namespace api {
namespace {

/// One route of the API.
struct Route {
    std::string_view method;
    /// `:name` matches one segment of any text but the empty one; `*name`, at the end, all that is
    /// left, slashes included.
    std::string_view path;
    Access access;
    Handler handler;
    TokenCheck check = TokenCheck::before;
};

constexpr Route routes[] = {
    {"POST", "/topics/:name", Access::client, publish_event, TokenCheck::within},
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

    {"GET", "/v1/queues", Access::root, list_queues},
    {"GET", "/v1/queues/:queue", Access::root, show_queue},
    {"POST", "/v1/queues/:queue/pause", Access::root, pause_queue},
    {"POST", "/v1/queues/:queue/resume", Access::root, resume_queue},
    {"PUT", "/v1/queues/:queue/rate_limits", Access::root, limit_queue},
    {"GET", "/v1/queues/:queue/throughput", Access::root, show_throughput},
    {"GET", "/v1/workers", Access::root, list_workers},
    {"POST", "/v1/queues/:queue/kick", Access::root, kick_jobs},
    {"POST", "/v1/queues/:queue/jobs", Access::root, push_jobs},
    {"GET", "/v1/queues/:queue/jobs", Access::root, list_jobs},
    {"GET", "/v1/queues/:queue/jobs/:id", Access::root, show_job},
    {"GET", "/v1/queues/:queue/jobs/:id/explanation", Access::root, explain_job},
    {"DELETE", "/v1/queues/:queue/jobs/:id", Access::root, delete_job},
    {"POST", "/v1/queues/:queue/jobs/:id/kick", Access::root, kick_job},
    {"POST", "/v1/queues/:queue/jobs/:id/cancel", Access::root, cancel_job},

    {"POST", "/v1/queues/:queue/lease", Access::root, lease_jobs},
    {"POST", "/v1/queues/:queue/jobs/:id/extend", Access::root, extend_lease},
    {"POST", "/v1/queues/:queue/jobs/:id/ack", Access::root, ack_job},
    {"POST", "/v1/queues/:queue/jobs/:id/nack", Access::root, nack_job},
    {"POST", "/v1/queues/:queue/jobs/:id/release", Access::root, release_job},

    {"GET", "/v1/subscriber/batches", Access::client, list_batches},
    {"GET", "/v1/subscriber/batches/:uid", Access::client, show_batch},
    {"GET", "/v1/subscriber/batches/:uid/explanation", Access::client, explain_batch},
    {"POST", "/v1/subscriber/batches/:uid/deliver", Access::client, deliver_batch},
    {"DELETE", "/v1/subscriber/batches/:uid", Access::client, drop_batch},
    {"GET", "/v1/subscribers/:token/batches", Access::root, list_batches},
    {"GET", "/v1/subscribers/:token/batches/:uid", Access::root, show_batch},
    {"GET", "/v1/subscribers/:token/batches/:uid/explanation", Access::root, explain_batch},
    {"POST", "/v1/subscribers/:token/batches/:uid/deliver", Access::root, deliver_batch},
    {"DELETE", "/v1/subscribers/:token/batches/:uid", Access::root, drop_batch},

    {"GET", "/v1/recurring", Access::root, list_recurring},
    {"GET", "/v1/recurring/:name", Access::root, show_recurring},
    {"GET", "/v1/recurring/:name/explanation", Access::root, explain_recurring},
    {"PUT", "/v1/recurring/:name", Access::root, put_recurring},
    {"DELETE", "/v1/recurring/:name", Access::root, remove_recurring},
    {"POST", "/v1/recurring/:name/pause", Access::root, pause_recurring},
    {"POST", "/v1/recurring/:name/resume", Access::root, resume_recurring},
    {"POST", "/v1/recurring/:name/run", Access::root, run_recurring},

    {"POST", "/v1/timers/:space", Access::root, post_timers},
    {"GET", "/v1/timers/:space", Access::root, list_timers},
    {"GET", "/v1/timer_counts/:space", Access::root, count_timers},
    {"GET", "/v1/timer_explanations/:space/*id", Access::root, explain_timer},
    {"GET", "/v1/timers/:space/*id", Access::root, show_timer},
    {"DELETE", "/v1/timers/:space/*id", Access::root, cancel_timer},
    {"POST", "/v1/timers/:space/postpone", Access::root, postpone_timer},
    {"POST", "/v1/timers/:space/confirm", Access::root, confirm_timer},
    {"POST", "/v1/timers/:space/take", Access::root, take_timers},
    {"POST", "/v1/timers/:space/repost", Access::root, repost_dead_timers},
    {"POST", "/v1/timers/:space/drop", Access::root, drop_dead_timers},
    {"POST", "/v1/actions", Access::root, post_action},

    {"POST", "/v1/job-batches", Access::root, create_job_batch},
    {"GET", "/v1/job-batches", Access::root, list_job_batches},
    {"GET", "/v1/job-batches/:id", Access::root, show_job_batch},
    {"DELETE", "/v1/job-batches/:id", Access::root, remove_job_batch},
    {"POST", "/v1/job-batches/:id/close", Access::root, close_job_batch},

    {"GET", "/pulse", Access::root_or_client, get_pulse},
    {"GET", "/pulse/scaling", Access::root_or_client, get_load},
    {"GET", "/health", Access::open, get_health},
    {"GET", "/health/ping", Access::open, get_time},
    {"GET", "/health/ping.json", Access::open, get_time},
};

/// Removes the first segment of a path, and returns it.
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

/// The route of a request; null when there is none. Routes of `GET` also serve `HEAD`.
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

/// Returns the options when they are valid. Throws `Failure` otherwise.
HttpApiOptions checked(HttpApiOptions options) {
    if (options.root_key.empty()) throw Failure{invalid("root_key: is missing")};
    if (options.root_key.find(':') != std::string::npos) {
        throw Failure{invalid("root_key: must not contain ':', which ends a user name")};
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

    /// Begins an exchange of a route. Answers and returns null when there is no route.
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
    if (exchange != nullptr) api::authorize(*exchange, route->access, route->check, route->handler);
}

void HttpApi::authorize(HttpRequest head, HttpResponder respond) {
    const auto* route = api::find_route(head.method, head.path);
    const auto exchange = impl_->begin(route, std::move(head), std::move(respond));
    if (exchange == nullptr) return;
    api::authorize(*exchange, route->access, api::TokenCheck::before,
                   [](api::Exchange& authorized) { authorized.let_body_come(); });
}

}  // namespace routemaster
