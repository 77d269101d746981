/// @file
/// `DoomedJobs`: checks jobs that kill their workers.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/store/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The queue and the name of jobs that kill their workers, and their maximum of attempts.
inline constexpr const char* doomed_queue = "doomed";
inline constexpr const char* doomed_name = "doom";
inline constexpr std::uint32_t doomed_attempts_max = 3;

/// Checker of jobs that kill their workers. Fails the simulation when such a job is leased more
/// often than `doomed_attempts_max`. Not thread safe.
class DoomedJobs {
public:
    explicit DoomedJobs(SimulationContext& context) : context_{context} {}

    void pushed(const Pushed& pushed);
    void doubt(const Step& step);
    void acquired(const Lease& lease) const;

    /// Whether this number of BURIED jobs is possible after all work is done.
    [[nodiscard]] bool may_be(std::uint64_t buried) const noexcept {
        return buried >= certain_ && buried <= possible_;
    }

private:
    SimulationContext& context_;
    std::uint64_t certain_ = 0;
    std::uint64_t possible_ = 0;
};

}  // namespace routemaster::simulation
