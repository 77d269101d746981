/// @file
/// The account of jobs that kill whoever does them.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The queue of these jobs, their name, and how often each may be begun.
inline constexpr const char* doomed_queue = "doomed";
inline constexpr const char* doomed_name = "doom";
inline constexpr std::uint32_t doomed_attempts_max = 3;

/// Follows how many there are, and ends the world when one is leased more often than it may. Not
/// thread safe.
class DoomedJobs {
public:
    /// `context` must outlive it.
    explicit DoomedJobs(SimulationContext& context) : context_{context} {}

    /// A push was answered.
    void pushed(const Pushed& pushed);
    /// Power was lost before a step was answered.
    void doubt(const Step& step);
    /// One was leased.
    void acquired(const Lease& lease) const;

    /// Whether so many may be BURIED when nothing is left to do.
    [[nodiscard]] bool may_be(std::uint64_t buried) const noexcept {
        return buried >= certain_ && buried <= possible_;
    }

private:
    SimulationContext& context_;
    std::uint64_t certain_ = 0;
    std::uint64_t possible_ = 0;
};

}  // namespace routemaster::simulation
