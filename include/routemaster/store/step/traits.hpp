/// @file
/// `StepTraits`: the properties that every step type declares.
///
///     struct RemoveTopic {
///         using Reply = Removal;
///         static constexpr StepTraits traits{.name = "remove_topic", .repeatable = true, …};
///         Result<void> check() const { return {}; }
///         std::string name;
///     };
///
/// No property has a default: a struct without one of the properties is not a `StepKind`, and does
/// not compile in a `StepList`. Stores and façades read the properties from here, so they are
/// listed nowhere else.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "routemaster/required.hpp"
#include "routemaster/result.hpp"

namespace routemaster {

/// The kind of data that a step changes, which decides when its reply is sent.
enum class Changes : std::uint8_t {
    nothing,  ///< None: the step only reads. Possible even while a store cannot write.
    /// Times of heartbeats, which are not stored. Possible even while a store cannot write.
    liveness,
    /// The progress of work. The reply waits only for the commits on which it depends.
    progress,
    state,  ///< Stored data. The reply is sent when the data are as durable as the store promises.
};

/// The memory that a step allocates in a store, which decides when a full store rejects the step.
enum class CapacityNeed : std::uint8_t {
    none,     ///< None, or the step leads to the removal of an object. Never rejected as full.
    fixed,    ///< A fixed amount: a setting or a number. Rejected if a store is full.
    payload,  ///< The size of the step's data. Rejected before a store is full.
};

/// The properties of a step type, independent of the values of its fields.
struct StepTraits {
    /// The type in snake_case, for logs, metrics and scripts. Unique among all steps.
    std::string_view name;
    /// True if the step is idempotent: it may be repeated after a lost reply. The comment of the
    /// step documents the effects of a repetition.
    Required<bool> repeatable;
    Required<Changes> changes;
    Required<CapacityNeed> needs;
};

/// Whether these traits are consistent: a step that only reads must be repeatable and need no
/// memory.
[[nodiscard]] constexpr bool consistent(const StepTraits& traits) {
    if (traits.name.empty()) return false;
    if (Changes{traits.changes} != Changes::nothing) return true;
    return traits.repeatable && CapacityNeed{traits.needs} == CapacityNeed::none;
}

/// Whether `S` has a function that returns the size of its payload.
template <class S>
concept BringsPayload = requires(const S& step) {
    { step.payload_bytes() } -> std::same_as<std::size_t>;
};

/// Requirements of a step type: a `Reply`; `traits`; `check()`, which validates the fields without
/// the state of the store, and returns `invalid` with the name of a wrong field; and
/// `payload_bytes()` if and only if the step needs memory for a payload.
template <class S>
concept StepKind = std::copyable<S> && requires(const S& step) {
    typename S::Reply;
    { S::traits } -> std::same_as<const StepTraits&>;
    { step.check() } -> std::same_as<Result<void>>;
    requires consistent(S::traits);
    requires(CapacityNeed{S::traits.needs} == CapacityNeed::payload) == BringsPayload<S>;
};

/// The list of the steps of one domain, defined at the end of the domain's header.
template <StepKind... S>
struct StepList {};

}  // namespace routemaster
