/// @file
/// The properties that every step type declares.
///
///     struct RemoveTopic {
///         using Reply = Removal;
///         static constexpr StepTraits traits{.name = "remove_topic", .repeatable = true, …};
///         Result<void> check() const { return {}; }
///         std::string name;
///     };
///
/// No property has a default: a struct that lacks a property is not a `StepKind`, and does not
/// compile in a `StepList`. Stores and façades read these properties. Therefore the properties of a
/// step are listed nowhere else.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "routemaster/required.hpp"
#include "routemaster/result.hpp"

namespace routemaster {

/// What a step changes.
enum class Changes : std::uint8_t {
    nothing,  ///< The step only reads. Possible even while a store cannot write.
    /// Only times of heartbeats, which no restart keeps. Possible even while a store cannot write.
    liveness,
    /// The progress of work. The reply waits only for the rows that it depends on.
    progress,
    state,  ///< Stored data. The reply comes when the data are as durable as the store promises.
};

/// The memory that a step needs in a store.
enum class CapacityNeed : std::uint8_t {
    none,     ///< None, or the step leads to the end of an object. Done even if a store is full.
    fixed,    ///< A fixed amount: a setting or a number. Refused if a store is full.
    payload,  ///< The size of the step's data. Refused earlier, while a store fills up.
};

/// The properties of a step type, whatever the values of its fields are.
struct StepTraits {
    /// The type in snake_case, for logs, metrics and scripts. Unique among all steps.
    std::string_view name;
    /// True if the step is idempotent: after a lost reply it may be repeated. The comment of the
    /// step describes all effects of a repetition.
    Required<bool> repeatable;
    Required<Changes> changes;
    Required<CapacityNeed> needs;
};

/// Whether these traits are complete and consistent: a step that only reads may be repeated and
/// needs no memory.
[[nodiscard]] constexpr bool consistent(const StepTraits& traits) {
    if (traits.name.empty()) return false;
    if (Changes{traits.changes} != Changes::nothing) return true;
    return traits.repeatable && CapacityNeed{traits.needs} == CapacityNeed::none;
}

/// Whether `S` has a function for the size of its payload.
template <class S>
concept BringsPayload = requires(const S& step) {
    { step.payload_bytes() } -> std::same_as<std::size_t>;
};

/// The requirements for a step type: a `Reply`; `traits`; `check()`, which returns `invalid` and
/// names the field if the step itself is wrong, whatever the state of the store; and
/// `payload_bytes()` if and only if the step needs memory for a payload.
template <class S>
concept StepKind = std::copyable<S> && requires(const S& step) {
    typename S::Reply;
    { S::traits } -> std::same_as<const StepTraits&>;
    { step.check() } -> std::same_as<Result<void>>;
    requires consistent(S::traits);
    requires(CapacityNeed{S::traits.needs} == CapacityNeed::payload) == BringsPayload<S>;
};

/// The steps of one domain. The header of each domain has this list at its end.
template <StepKind... S>
struct StepList {};

}  // namespace routemaster
