/// @file
/// The table of routes of the API.

#pragma once

#include <string_view>

#include "routes.hpp"

namespace routemaster::api {

struct RouteHandler {
    constexpr RouteHandler(Handler handler) noexcept : run{handler} {}
    constexpr RouteHandler(Handler handler, bool answers_large) noexcept
        : run{handler}, large{answers_large} {}

    Handler run;
    bool large = false;  ///< The response may be large.
};

/// Marks a handler whose response may be large; see `Exchange::begin_large`.
template <Handler handler>
inline constexpr RouteHandler large{[](Exchange& exchange) { exchange.begin_large(handler); },
                                    true};

struct Route {
    std::string_view method;
    /// Pattern: `:name` matches one non-empty segment. `*name`, at the end, matches the rest of the
    /// path, including slashes.
    std::string_view path;
    Access access;
    RouteHandler handler;
    TokenCheck check = TokenCheck::before;
};

/// The table of routes. The first route that matches serves a request.
inline constexpr Route routes[] = {
    {"POST", "/topics/:name", Access::client, publish_event, TokenCheck::within},
    {"GET", "/topics", Access::client_or_root, large<list_topics>},
    {"DELETE", "/topics/:name", Access::client_or_root, remove_topic},

    {"POST", "/subscription", Access::client, subscribe},
    {"POST", "/subscriber", Access::client, subscribe},
    {"GET", "/subscriptions", Access::root_or_client, large<list_subscribers>},
    {"GET", "/subscribers", Access::root_or_client, large<list_subscribers>},
    {"DELETE", "/subscriber", Access::root_or_client, remove_subscriber},
    {"DELETE", "/subscriber/topics/:name", Access::root_or_client, unsubscribe},

    {"GET", "/subscriber/dead", Access::client, large<list_dead>},
    {"GET", "/subscriber/dead/:uid", Access::client, large<show_dead>},
    {"POST", "/subscriber/dead/redeliver", Access::client, redeliver_all_dead},
    {"POST", "/subscriber/dead/:uid/redeliver", Access::client, redeliver_dead},
    {"DELETE", "/subscriber/dead", Access::client, drop_all_dead},
    {"DELETE", "/subscriber/dead/:uid", Access::client, drop_dead},

    {"GET", "/subscribers/:token/dead", Access::root, large<list_dead>},
    {"GET", "/subscribers/:token/dead/:uid", Access::root, large<show_dead>},
    {"POST", "/subscribers/:token/dead/redeliver", Access::root, redeliver_all_dead},
    {"POST", "/subscribers/:token/dead/:uid/redeliver", Access::root, redeliver_dead},
    {"DELETE", "/subscribers/:token/dead", Access::root, drop_all_dead},
    {"DELETE", "/subscribers/:token/dead/:uid", Access::root, drop_dead},

    {"GET", "/api_tokens", Access::root, large<list_tokens>},
    {"POST", "/api_tokens", Access::root, add_token},
    {"DELETE", "/api_tokens/:token", Access::root, remove_token},

    {"GET", "/v1/queues", Access::root, large<list_queues>},
    {"GET", "/v1/queues/:queue", Access::root, show_queue},
    {"POST", "/v1/queues/:queue/pause", Access::root, pause_queue},
    {"POST", "/v1/queues/:queue/resume", Access::root, resume_queue},
    {"PUT", "/v1/queues/:queue/rate_limits", Access::root, limit_queue},
    {"GET", "/v1/queues/:queue/throughput", Access::root, show_throughput},
    {"GET", "/v1/workers", Access::root, large<list_workers>},
    {"POST", "/v1/queues/:queue/kick", Access::root, kick_jobs},
    {"POST", "/v1/queues/:queue/jobs", Access::root, push_jobs},
    {"GET", "/v1/queues/:queue/jobs", Access::root, large<list_jobs>},
    {"GET", "/v1/queues/:queue/jobs/:id", Access::root, large<show_job>},
    {"GET", "/v1/queues/:queue/jobs/:id/explanation", Access::root, large<explain_job>},
    {"DELETE", "/v1/queues/:queue/jobs/:id", Access::root, delete_job},
    {"POST", "/v1/queues/:queue/jobs/:id/kick", Access::root, kick_job},
    {"POST", "/v1/queues/:queue/jobs/:id/cancel", Access::root, cancel_job},

    {"POST", "/v1/queues/:queue/lease", Access::root, lease_jobs},
    {"POST", "/v1/queues/:queue/jobs/:id/extend", Access::root, extend_lease},
    {"POST", "/v1/queues/:queue/jobs/:id/ack", Access::root, ack_job},
    {"POST", "/v1/queues/:queue/jobs/:id/nack", Access::root, nack_job},
    {"POST", "/v1/queues/:queue/jobs/:id/release", Access::root, release_job},

    {"GET", "/v1/subscriber/batches", Access::client, large<list_batches>},
    {"GET", "/v1/subscriber/batches/:uid", Access::client, show_batch},
    {"GET", "/v1/subscriber/batches/:uid/explanation", Access::client, explain_batch},
    {"POST", "/v1/subscriber/batches/:uid/deliver", Access::client, deliver_batch},
    {"DELETE", "/v1/subscriber/batches/:uid", Access::client, drop_batch},
    {"GET", "/v1/subscribers/:token/batches", Access::root, large<list_batches>},
    {"GET", "/v1/subscribers/:token/batches/:uid", Access::root, show_batch},
    {"GET", "/v1/subscribers/:token/batches/:uid/explanation", Access::root, explain_batch},
    {"POST", "/v1/subscribers/:token/batches/:uid/deliver", Access::root, deliver_batch},
    {"DELETE", "/v1/subscribers/:token/batches/:uid", Access::root, drop_batch},

    {"GET", "/v1/recurring", Access::root, large<list_recurring>},
    {"GET", "/v1/recurring/:name", Access::root, show_recurring},
    {"GET", "/v1/recurring/:name/explanation", Access::root, explain_recurring},
    {"PUT", "/v1/recurring/:name", Access::root, put_recurring},
    {"DELETE", "/v1/recurring/:name", Access::root, remove_recurring},
    {"POST", "/v1/recurring/:name/pause", Access::root, pause_recurring},
    {"POST", "/v1/recurring/:name/resume", Access::root, resume_recurring},
    {"POST", "/v1/recurring/:name/run", Access::root, run_recurring},

    {"POST", "/v1/timers/:space", Access::root, post_timers},
    {"GET", "/v1/timers/:space", Access::root, large<list_timers>},
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
    {"GET", "/v1/job-batches", Access::root, large<list_job_batches>},
    {"GET", "/v1/job-batches/:id", Access::root, show_job_batch},
    {"DELETE", "/v1/job-batches/:id", Access::root, remove_job_batch},
    {"POST", "/v1/job-batches/:id/close", Access::root, close_job_batch},

    {"GET", "/pulse", Access::root_or_client, get_pulse},
    {"GET", "/pulse/scaling", Access::root_or_client, get_load},
    {"GET", "/health", Access::open, get_health},
    {"GET", "/health/ping", Access::open, get_time},
    {"GET", "/health/ping.json", Access::open, get_time},
};

}  // namespace routemaster::api
