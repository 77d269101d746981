/// @file
/// `StepScope`: the time of the current step, and when its outcome may be reported.

#pragma once

#include <algorithm>
#include <cstdint>

#include "core/state/entity.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Context of the current step, shared by all domains of a state machine. `Machine` resets the
/// scope before each step. A domain changes the scope when an outcome may be reported earlier.
struct StepScope {
    /// Value of `depends_on_row`: all changes so far must be durable.
    static constexpr std::uint64_t everything = UINT64_MAX;

    TimePoint now{};
    /// The newest journal row whose content the outcome reveals, apart from the step's own changes.
    /// The row must be durable before the outcome is reported.
    std::uint64_t depends_on_row = everything;
    /// Whether a caller waits until the outcome is on disk. If not, the journal may write the
    /// step's record together with later records.
    bool hurried = true;

    void depend_on(const Entity& entity) {
        depends_on_row = std::max(depends_on_row, entity.last_row);
    }
};

}  // namespace routemaster::detail
