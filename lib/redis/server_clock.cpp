#include "server_clock.hpp"

#include <time.h>

namespace routemaster::redis {

namespace {

using Microseconds = ServerClock::Microseconds;

/// Differences below a millisecond do not matter.
constexpr Microseconds resolution{1'000};

/// Assumed drift between two clocks that are not synchronised: 100 ppm.
constexpr int drift_divisor = 10'000;

Microseconds read(clockid_t clock) {
    timespec at{};
    ::clock_gettime(clock, &at);
    return std::chrono::seconds{at.tv_sec} +
           std::chrono::duration_cast<Microseconds>(std::chrono::nanoseconds{at.tv_nsec});
}

}  // namespace

Microseconds ServerClock::uptime() { return read(CLOCK_BOOTTIME); }

Microseconds ServerClock::Measurement::uncertainty_at(Microseconds uptime) const {
    return uncertainty + (uptime - at) / drift_divisor;
}

void ServerClock::measured(Microseconds sent, Microseconds received, Microseconds server) {
    // The server read its clock at some time during the round trip. If the middle is assumed, the
    // error is at most half of the round trip.
    const auto half = (received - sent) / 2;
    const Measurement fresh{
        .lead = server - (sent + half), .uncertainty = half + resolution, .at = received};
    const std::lock_guard lock{mutex_};
    if (best_ && !changed_) {
        // A request that waited behind earlier requests measures less precisely than an older
        // request without a wait. Its measurement replaces the older measurement only if the two
        // contradict each other, because the server's clock must have been set then.
        const auto old = best_->uncertainty_at(received);
        const bool agree = std::chrono::abs(fresh.lead - best_->lead) <= fresh.uncertainty + old;
        if (agree && old < fresh.uncertainty) return;
    }
    best_ = fresh;
    changed_ = false;
}

void ServerClock::changed() {
    const std::lock_guard lock{mutex_};
    changed_ = true;
}

Duration ServerClock::offset(Microseconds uptime, Microseconds system) const {
    const std::lock_guard lock{mutex_};
    if (!best_) return Duration{0};
    const auto offset = uptime + best_->lead - system;
    if (std::chrono::abs(offset) <= best_->uncertainty_at(uptime)) return Duration{0};
    return std::chrono::round<Duration>(offset);
}

Duration ServerClock::offset() const {
    // If the thread is interrupted between reading the two clocks, the difference is wrong. The
    // readings are therefore repeated.
    constexpr int attempts = 3;
    auto before = uptime();
    auto system = read(CLOCK_REALTIME);
    for (int i = 1; i < attempts; ++i) {
        const auto after = uptime();
        if (after - before < resolution / 2) break;
        before = after;
        system = read(CLOCK_REALTIME);
    }
    return offset(before, system);
}

}  // namespace routemaster::redis
