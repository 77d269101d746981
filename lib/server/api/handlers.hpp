/// @file
/// What the routes do, one function each. All of them answer the call, at once or later.

#pragma once

#include "call.hpp"

namespace routemaster::api {

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
