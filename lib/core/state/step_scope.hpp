/// @file
/// `StepScope`: the time of the step in progress, and the durability its outcome needs.

#pragma once

#include <algorithm>
#include <cstdint>

#include "core/state/entity.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Shared by the domains of a state machine. `Machine` resets the scope before each step.
struct StepScope {
    /// All changes so far, as a value of `depends_on_row`.
    static constexpr std::uint64_t everything = UINT64_MAX;

    TimePoint now{};
    /// The newest journal row whose content the outcome reveals, apart from the changes of the step
    /// itself. The row must be durable before the outcome is reported.
    std::uint64_t depends_on_row = everything;
    /// Whether a caller waits for the outcome to be on disk. If not, its record may be written
    /// together with later records.
    bool hurried = true;

    void depend_on(const Entity& entity) {
        depends_on_row = std::max(depends_on_row, entity.last_row);
    }
};

}  // namespace routemaster::detail
