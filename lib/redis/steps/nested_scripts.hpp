/// @file
/// Steps that are done as part of another.

#pragma once

#include <string>
#include <vector>

#include "redis/script.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {

// Their protocols are in files of their own.
extern template struct Protocols<JobSteps>;
extern template struct Protocols<TopicSteps>;
extern template struct Protocols<TimerSteps>;
extern template struct Protocols<TimerFiringSteps>;

/// The script of a step of another domain, as a function of its name.
template <class S>
std::string function_of() {
    std::vector<const Script*> scripts;
    Protocols<DomainOf<S>>::add_scripts(scripts);
    for (const auto* script : scripts) {
        if (script->name == S::traits.name) return as_function(*script);
    }
    return {};
}

}  // namespace routemaster::redis
