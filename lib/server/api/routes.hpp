/// @file
/// What the routes do, and who may use them.

#pragma once

#include <functional>

#include "call.hpp"

namespace routemaster::api {

/// Which tokens a route takes. The order matters for the text of a 401 alone.
enum class Access {
    open,  ///< None; there must be no `Authorization` header at all.
    client,
    root,
    client_or_root,
    root_or_client,
};

/// What a route does with a call that may use it.
using Handler = void (*)(Call&);

/// When it is found out whether the token of a client is valid.
enum class TokenCheck {
    before,  ///< Before the handler is called.
    within,  ///< The handler does it, with the first thing it asks of the store.
};

/// Finds out who calls, then hands the call to `handler`, or answers 401.
void admit(Call& call, Access access, TokenCheck check, Handler handler);

/// Finds out whether the token of a client is valid, then hands the call to `next`, or answers 401.
void check_token(Call& call, Access access, std::function<void(Call&)> next);

/// Answers 401, and which tokens the route takes.
void turn_away(Call& call, Access access);

// What the routes do, one function each. All of them answer the call, at once or later.

// topics.cpp
void publish_event(Call& call);
void list_topics(Call& call);
void remove_topic(Call& call);

// subscribers.cpp
void subscribe(Call& call);
void list_subscribers(Call& call);
void remove_subscriber(Call& call);
void unsubscribe(Call& call);

// dead_batches.cpp
void list_dead(Call& call);
void show_dead(Call& call);
void redeliver_dead(Call& call);
void redeliver_all_dead(Call& call);
void drop_dead(Call& call);
void drop_all_dead(Call& call);

// tokens.cpp
void list_tokens(Call& call);
void add_token(Call& call);
void remove_token(Call& call);

// pulse.cpp
void tell_pulse(Call& call);
void tell_load(Call& call);
void tell_health(Call& call);
void tell_time(Call& call);

}  // namespace routemaster::api
