/// @file
/// Steps that run inside another step.

#pragma once

#include <string>

#include "redis/steps/protocols.hpp"

namespace routemaster::redis {

// Their protocols are in other files.
extern template struct Protocols<JobSteps>;
extern template struct Protocols<TopicSteps>;
extern template struct Protocols<TimerSteps>;
extern template struct Protocols<TimerFiringSteps>;

/// The script of a step of another domain, as a function of its name.
template <class S>
std::string function_of() {
    return Protocols<DomainOf<S>>::function_named(S::traits.name);
}

}  // namespace routemaster::redis
