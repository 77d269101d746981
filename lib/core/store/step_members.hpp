/// @file
/// The member templates of steps and replies. `step.cpp` instantiates the templates for every type.
/// All further sources need only the declarations.

#pragma once

#include <utility>
#include <variant>

#include "routemaster/store/step.hpp"

namespace routemaster {

template <class S>
    requires(detail::AllStepsOf<StepDomains>::has_step<S>)
[[gnu::used]] Step::Step(S step) : variant{std::in_place_type<S>, std::move(step)} {}

template <class R>
    requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
[[gnu::used]] Reply::Reply(R reply)
    : variant{std::in_place_type<detail::MaybeBoxed<R>>, std::move(reply)} {}

template <class R>
    requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
[[gnu::used]] const R& Reply::as() const {
    return detail::unboxed<R>(std::get<detail::MaybeBoxed<R>>(*this));
}

}  // namespace routemaster
