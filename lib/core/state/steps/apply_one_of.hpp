/// @file
/// Dispatches a step to the `apply` of its domain. To be included where the specialisations of
/// `apply` are defined.

#pragma once

#include <utility>
#include <variant>

#include "core/store/step_members.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

template <class Domain, class S, class... Rest>
Outcome apply_one_of(Domain& domain, StepList<S, Rest...> /*all*/, Step& step) {
    if constexpr (sizeof...(Rest) > 0) {
        if (!std::holds_alternative<S>(step)) {
            return apply_one_of(domain, StepList<Rest...>{}, step);
        }
    }
    auto reply = domain.apply(std::get<S>(step));
    if (!reply) return reply.error();
    return Outcome{std::in_place, std::move(*reply)};
}

}  // namespace routemaster::detail
