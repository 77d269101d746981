/// @file
/// What all calls of an `HttpApi` share.

#pragma once

#include <utility>

#include "../complaints.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/log.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::api {

/// Thread safety: `store`, `clock`, `uids` and `faults` are safe by themselves, the rest does not
/// change.
struct Context {
    Context(Store& storing, HttpApiOptions given)
        : store{storing},
          options{std::move(given)},
          clock{options.clock == nullptr ? system_clock() : *options.clock},
          uids{entropy(), entropy()},
          faults{options.log, LogLevel::error, "http api: "} {}

    Store& store;
    const HttpApiOptions options;
    const Clock& clock;
    UidSource uids;
    detail::Complaints faults;  ///< What is damaged, whoever asks.
};

}  // namespace routemaster::api
