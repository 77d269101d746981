/// @file
/// `Backoff`: the delays between attempts to connect.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/random.hpp"
#include "routemaster/time.hpp"

namespace routemaster::redis {

/// Exponential backoff with jitter: delays that double from 50 ms to 2 s. Each delay is random,
/// between half of its length and the full length. Otherwise all clients of a server would
/// reconnect at once.
class Backoff {
public:
    explicit Backoff(std::uint64_t seed) : random_{seed} {}

    [[nodiscard]] Duration next() {
        const auto whole = pause_;
        pause_ = std::min(2 * pause_, pause_max);
        const auto half = whole.count() / 2;
        return Duration{half} +
               Duration{static_cast<std::int64_t>(random_.unit() * static_cast<double>(half))};
    }

    void reset() { pause_ = pause_min; }

private:
    static constexpr Duration pause_min{50};
    static constexpr Duration pause_max{2'000};

    Random random_;
    Duration pause_ = pause_min;
};

}  // namespace routemaster::redis
