/// @file
/// What every step says of itself, beside its struct.
///
///     struct RemoveTopic {
///         using Reply = Removal;
///         static constexpr StepTraits traits{.name = "remove_topic", .repeatable = true, …};
///         Result<void> check() const { return {}; }
///         std::string name;
///     };
///
/// Nothing of it has a default: a struct that leaves a part out is no `StepKind`, and a `StepList`
/// of it does not compile. Stores and façades ask the step, so nobody else lists which steps may be
/// repeated, only read, or need space.

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
    nothing,   ///< It only reads: answered also while a store cannot write.
    liveness,  ///< Only when somebody was last heard of, which no restart keeps. Likewise.
    /// How far work has come: the reply waits for the rows that it depends on, and no others.
    progress,
    state,  ///< What a store keeps: replied once it is as durable as the store promises.
};

/// What a step needs of the capacity of a store.
enum class CapacityNeed : std::uint8_t {
    none,     ///< None, or it leads to the end of something: done also while a store is full.
    fixed,    ///< A setting or a number: refused by a store that is full.
    payload,  ///< Data that others bring: refused before that, while a store fills up.
};

/// What a step says of itself, whatever its fields are.
struct StepTraits {
    /// Its type in snake_case, for logs, metrics and scripts. No two steps have the same.
    std::string_view name;
    /// True if the step is idempotent, so a lost reply may be retried: what its comment says of
    /// repeating it is then all that can come of it.
    Required<bool> repeatable;
    Required<Changes> changes;
    Required<CapacityNeed> needs;
};

/// Whether these traits are whole and agree with each other: what only reads may be repeated and
/// needs no capacity.
[[nodiscard]] constexpr bool consistent(const StepTraits& traits) {
    if (traits.name.empty()) return false;
    if (Changes{traits.changes} != Changes::nothing) return true;
    return traits.repeatable && CapacityNeed{traits.needs} == CapacityNeed::none;
}

/// Whether `S` says how many bytes of payload it brings.
template <class S>
concept BringsPayload = requires(const S& step) {
    { step.payload_bytes() } -> std::same_as<std::size_t>;
};

/// What a step is: a value with a `Reply`; `traits`; `check()`, which is `invalid` and names the
/// field when something is wrong with the step by itself, whatever the state of the store; and
/// `payload_bytes()` if and only if it needs capacity for a payload.
template <class S>
concept StepKind = std::copyable<S> && requires(const S& step) {
    typename S::Reply;
    { S::traits } -> std::same_as<const StepTraits&>;
    { step.check() } -> std::same_as<Result<void>>;
    requires consistent(S::traits);
    requires(CapacityNeed{S::traits.needs} == CapacityNeed::payload) == BringsPayload<S>;
};

/// The steps of one domain. Each domain has one, at the end of its header.
template <StepKind... S>
struct StepList {};

}  // namespace routemaster
