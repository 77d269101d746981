/// @file
/// Steps as calls: which script, with which arguments.

#pragma once

#include <string>
#include <string_view>

#include "call.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::redis {

/// What all requests of a store have in common.
struct RequestContext {
    std::string_view prefix;
    bool mixed_fleet = false;
    Duration clock_offset{0};  ///< From the caller's time to the server's.
    TimePoint now;             ///< In the caller's time.
};

/// The argument that tells scripts of the fleet: 1 when it is mixed, 2 for a prefix with a hash
/// tag, which may be in a cluster, 3 for both, else 0.
[[nodiscard]] constexpr int fleet_kind(std::string_view prefix, bool mixed_fleet) noexcept {
    return (mixed_fleet ? 1 : 0) + (prefix.find('{') != std::string_view::npos ? 2 : 0);
}

/// The call that performs a step; `done` is left to the caller. `invalid` when something is wrong
/// with the step itself, so that the server need not be asked.
[[nodiscard]] Result<Call> request(const Step& step, const RequestContext& context);

}  // namespace routemaster::redis
