#include "server_clock.hpp"

#include <time.h>

namespace routemaster::redis {

namespace {

using Microseconds = ServerClock::Microseconds;

/// Only milliseconds matter.
constexpr Microseconds resolution{1'000};

/// The fastest drift between two undisciplined clocks: 100 ppm.
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
    // The server read its clock during the round trip. The middle of the round trip is wrong by at
    // most half of it.
    const auto half = (received - sent) / 2;
    const Measurement fresh{
        .lead = server - (sent + half), .uncertainty = half + resolution, .at = received};
    const std::lock_guard lock{mutex_};
    if (best_ && !changed_) {
        // A request delayed by earlier requests is less precise than an older request without
        // delay. Such a measurement counts only as proof that the server's clock was set.
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
    // An interruption between the two clock readings would add to their difference.
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
