#include "routemaster/clock.hpp"

#include <chrono>

namespace routemaster {

TimePoint SystemClock::now() const {
    return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

std::chrono::nanoseconds SystemClock::until(TimePoint at) const {
    return at - std::chrono::system_clock::now();
}

const Clock& system_clock() noexcept {
    static const SystemClock clock;
    return clock;
}

}  // namespace routemaster
