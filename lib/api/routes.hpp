/// @file
/// The handlers of the routes, and the kinds of tokens that routes accept.

#pragma once

#include <functional>

#include "exchange.hpp"

namespace routemaster::api {

/// The kinds of tokens that a route accepts. The order in a name affects only the text of a 401.
enum class Access {
    open,  ///< No token. An `Authorization` header is rejected.
    client,
    root,
    client_or_root,
    root_or_client,
};

using Handler = void (*)(Exchange&);

enum class TokenCheck {
    before,  ///< Before the handler is called, by a separate step.
    within,  ///< By the handler, as part of the first step that it submits.
};

/// Authenticates the caller, then calls `handler`, or responds with 401.
void authorize(Exchange& exchange, Access access, TokenCheck check, Handler handler);

void check_token(Exchange& exchange, Access access, std::function<void(Exchange&)> next);

void turn_away(Exchange& exchange, Access access);

// The handlers of the routes. Each handler responds exactly once, at once or asynchronously.

// topics.cpp
void publish_event(Exchange& exchange);
void list_topics(Exchange& exchange);
void remove_topic(Exchange& exchange);

// subscribers.cpp
void subscribe(Exchange& exchange);
void list_subscribers(Exchange& exchange);
void remove_subscriber(Exchange& exchange);
void unsubscribe(Exchange& exchange);

// batches.cpp
void list_batches(Exchange& exchange);
void show_batch(Exchange& exchange);
void explain_batch(Exchange& exchange);
void deliver_batch(Exchange& exchange);
void drop_batch(Exchange& exchange);

// dead_batches.cpp
void list_dead(Exchange& exchange);
void show_dead(Exchange& exchange);
void redeliver_dead(Exchange& exchange);
void redeliver_all_dead(Exchange& exchange);
void drop_dead(Exchange& exchange);
void drop_all_dead(Exchange& exchange);

// jobs.cpp
void push_jobs(Exchange& exchange);
void list_jobs(Exchange& exchange);
void show_job(Exchange& exchange);
void explain_job(Exchange& exchange);
void kick_job(Exchange& exchange);
void kick_jobs(Exchange& exchange);
void cancel_job(Exchange& exchange);
void delete_job(Exchange& exchange);

// queues.cpp
void list_queues(Exchange& exchange);
void show_queue(Exchange& exchange);
void pause_queue(Exchange& exchange);
void resume_queue(Exchange& exchange);
void limit_queue(Exchange& exchange);

// throughput.cpp
void show_throughput(Exchange& exchange);

// workers.cpp
void list_workers(Exchange& exchange);

// recurring.cpp
void list_recurring(Exchange& exchange);
void show_recurring(Exchange& exchange);
void explain_recurring(Exchange& exchange);
void put_recurring(Exchange& exchange);
void pause_recurring(Exchange& exchange);
void resume_recurring(Exchange& exchange);
void run_recurring(Exchange& exchange);
void remove_recurring(Exchange& exchange);

// job_batches.cpp
void create_job_batch(Exchange& exchange);
void list_job_batches(Exchange& exchange);
void show_job_batch(Exchange& exchange);
void close_job_batch(Exchange& exchange);
void remove_job_batch(Exchange& exchange);

// leases.cpp
void lease_jobs(Exchange& exchange);
void extend_lease(Exchange& exchange);
void ack_job(Exchange& exchange);
void nack_job(Exchange& exchange);
void release_job(Exchange& exchange);

// timers.cpp
void post_timers(Exchange& exchange);
void list_timers(Exchange& exchange);
void count_timers(Exchange& exchange);
void show_timer(Exchange& exchange);
void explain_timer(Exchange& exchange);
void cancel_timer(Exchange& exchange);
void postpone_timer(Exchange& exchange);
void confirm_timer(Exchange& exchange);
void take_timers(Exchange& exchange);
void repost_dead_timers(Exchange& exchange);
void drop_dead_timers(Exchange& exchange);

// actions.cpp
void post_action(Exchange& exchange);

// tokens.cpp
void list_tokens(Exchange& exchange);
void add_token(Exchange& exchange);
void remove_token(Exchange& exchange);

// pulse.cpp
void get_pulse(Exchange& exchange);
void get_load(Exchange& exchange);
void get_health(Exchange& exchange);
void get_time(Exchange& exchange);

}  // namespace routemaster::api
