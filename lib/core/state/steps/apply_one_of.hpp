/// @file
/// Dispatches a step to its `Machine::apply`. To be included where the specialisations of `apply`
/// are declared.

#pragma once

#include <utility>
#include <variant>

#include "core/state/machine.hpp"
#include "core/store/step_members.hpp"

namespace routemaster::detail {

template <class S, class... Rest>
Outcome Machine::apply_one_of(StepList<S, Rest...>, Step& step) {
    if constexpr (sizeof...(Rest) > 0) {
        if (!std::holds_alternative<S>(step)) return apply_one_of(StepList<Rest...>{}, step);
    }
    auto reply = apply(std::get<S>(step));
    if (!reply) return reply.error();
    return Outcome{std::in_place, std::move(*reply)};
}

}  // namespace routemaster::detail
