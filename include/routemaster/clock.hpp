/// @file
/// `SystemClock`: the clock of this machine.

#pragma once

#include <chrono>

#include "routemaster/time.hpp"

namespace routemaster {

/// The wall clock of this machine, in UTC.
///
/// Thread safety: stateless.
class SystemClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const override;
    [[nodiscard]] std::chrono::nanoseconds until(TimePoint at) const override;
};

/// A `SystemClock` that lives as long as the program; the default clock of every façade.
[[nodiscard]] const Clock& system_clock() noexcept;

}  // namespace routemaster
