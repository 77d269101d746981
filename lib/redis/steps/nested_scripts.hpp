/// @file
/// Scripts of steps, to be called by other scripts.

#pragma once

#include <string>

#include "redis/steps/protocols.hpp"

namespace routemaster::redis {

extern template struct Protocols<JobSteps>;
extern template struct Protocols<TopicSteps>;
extern template struct Protocols<TimerSteps>;
extern template struct Protocols<TimerFiringSteps>;

/// The script of a step of another domain, as a Lua function with the name of the step.
template <class S>
std::string function_of() {
    return Protocols<DomainOf<S>>::function_named(S::traits.name);
}

}  // namespace routemaster::redis
