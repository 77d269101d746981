/// @file
/// Metafunctions over the lists of steps: variants of all steps and replies, and a step's domain.

#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "routemaster/detail/boxed.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster::detail {

/// A list of the step lists of all domains.
template <class... Lists>
struct Domains {};

/// Concatenates step lists.
template <class... Lists>
struct Joined {};
template <class... S>
struct Joined<StepList<S...>> {
    using Type = StepList<S...>;
};
template <class... A, class... B, class... Rest>
struct Joined<StepList<A...>, StepList<B...>, Rest...> : Joined<StepList<A..., B...>, Rest...> {};

/// A variant of the types in `Found` and in `Rest`, without duplicates.
template <class Found, class... Rest>
struct Distinct {
    using Type = Found;
};
template <class... Found, class Next, class... Rest>
struct Distinct<std::variant<Found...>, Next, Rest...>
    : std::conditional_t<(std::is_same_v<Found, Next> || ...),
                         Distinct<std::variant<Found...>, Rest...>,
                         Distinct<std::variant<Found..., Next>, Rest...>> {};

/// Replaces the large types of a variant by boxes; see `MaybeBoxed`.
template <class Any>
struct WithBoxes {};
template <class... T>
struct WithBoxes<std::variant<T...>> {
    using Type = std::variant<MaybeBoxed<T>...>;
};

/// Types and tables computed from the list of all steps.
template <class List>
struct AllSteps {};
template <class... S>
struct AllSteps<StepList<S...>> {
    using List = StepList<S...>;
    using Step = std::variant<S...>;
    using Reply =
        typename WithBoxes<typename Distinct<std::variant<>, typename S::Reply...>::Type>::Type;

    /// Whether `Any` is a step of the list.
    template <class Any>
    static constexpr bool has_step = (std::is_same_v<Any, S> || ...);
    /// Whether `Any` is the reply of a step.
    template <class Any>
    static constexpr bool has_reply = (std::is_same_v<Any, typename S::Reply> || ...);

    /// The traits of all steps, in the order of the variant.
    static constexpr std::array<StepTraits, sizeof...(S)> traits{S::traits...};

    /// Whether all steps have different names.
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

/// Whether a step list contains a step.
template <class S, class List>
inline constexpr bool has_step = false;
template <class S, class... Members>
inline constexpr bool has_step<S, StepList<Members...>> = (std::is_same_v<S, Members> || ...);

/// Finds the step list that contains a step. The result is the member `type`.
template <class S, class AllDomains>
struct FindDomain {};
template <class S, class List, class... Rest>
struct FindDomain<S, Domains<List, Rest...>>
    : std::conditional_t<has_step<S, List>, std::type_identity<List>,
                         FindDomain<S, Domains<Rest...>>> {};

}  // namespace routemaster::detail
