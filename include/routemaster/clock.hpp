/// @file
/// The machine's clock: the one place of the headers that reads it.

#pragma once

#include <chrono>

#include "routemaster/time.hpp"

namespace routemaster {

/// The wall clock of this machine, in UTC.
///
/// Thread safety: stateless.
class SystemClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const override {
        return std::chrono::floor<Duration>(std::chrono::system_clock::now());
    }
};

/// A `SystemClock` that lives as long as the program: the default of every façade.
[[nodiscard]] inline const Clock& system_clock() noexcept {
    static const SystemClock clock;
    return clock;
}

}  // namespace routemaster
