/// @file
/// What follows from the lists of steps: the variants, and which domain a step is of.

#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "routemaster/detail/boxed.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster::detail {

/// The lists of all domains.
template <class... Lists>
struct Domains {};

/// All lists as one.
template <class... Lists>
struct Joined {};
template <class... S>
struct Joined<StepList<S...>> {
    using Type = StepList<S...>;
};
template <class... A, class... B, class... Rest>
struct Joined<StepList<A...>, StepList<B...>, Rest...> : Joined<StepList<A..., B...>, Rest...> {};

/// A variant of different types: those in `Found`, and those of `Rest` that are not among them.
template <class Found, class... Rest>
struct Distinct {
    using Type = Found;
};
template <class... Found, class Next, class... Rest>
struct Distinct<std::variant<Found...>, Next, Rest...>
    : std::conditional_t<(std::is_same_v<Found, Next> || ...),
                         Distinct<std::variant<Found...>, Rest...>,
                         Distinct<std::variant<Found..., Next>, Rest...>> {};

/// A variant whose large types are boxed.
template <class Any>
struct WithBoxes {};
template <class... T>
struct WithBoxes<std::variant<T...>> {
    using Type = std::variant<MaybeBoxed<T>...>;
};

/// What follows from one list of all steps.
template <class List>
struct AllSteps {};
template <class... S>
struct AllSteps<StepList<S...>> {
    using List = StepList<S...>;
    using Step = std::variant<S...>;
    using Reply =
        typename WithBoxes<typename Distinct<std::variant<>, typename S::Reply...>::Type>::Type;

    /// Whether it is one of the steps.
    template <class Any>
    static constexpr bool has_step = (std::is_same_v<Any, S> || ...);
    /// Whether a step replies it.
    template <class Any>
    static constexpr bool has_reply = (std::is_same_v<Any, typename S::Reply> || ...);

    /// In the order of the variant.
    static constexpr std::array<StepTraits, sizeof...(S)> traits{S::traits...};

    /// Whether no two steps have one name.
    static constexpr bool names_differ() {
        for (std::size_t i = 0; i < traits.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (traits[i].name == traits[j].name) return false;
            }
        }
        return true;
    }
};

template <class AllDomains>
struct AllStepsOf {};
template <class... Lists>
struct AllStepsOf<Domains<Lists...>> : AllSteps<typename Joined<Lists...>::Type> {};

/// Whether a list has a step.
template <class S, class List>
inline constexpr bool has_step = false;
template <class S, class... Members>
inline constexpr bool has_step<S, StepList<Members...>> = (std::is_same_v<S, Members> || ...);

/// The list that has a step, as `type`.
template <class S, class AllDomains>
struct FindDomain {};
template <class S, class List, class... Rest>
struct FindDomain<S, Domains<List, Rest...>>
    : std::conditional_t<has_step<S, List>, std::type_identity<List>,
                         FindDomain<S, Domains<Rest...>>> {};

}  // namespace routemaster::detail
