/// @file
/// `DoomedJobs`: checks jobs that kill their workers.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/store/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The queue and the name of these jobs, and their maximum of attempts.
inline constexpr const char* doomed_queue = "doomed";
inline constexpr const char* doomed_name = "doom";
inline constexpr std::uint32_t doomed_attempts_max = 3;

/// Checker of jobs that kill their workers. Fails the simulation when such a job is leased more
/// often than `doomed_attempts_max`. Not thread safe.
class DoomedJobs {
public:
    /// `context` must outlive this object.
    explicit DoomedJobs(SimulationContext& context) : context_{context} {}

    /// Called when a push succeeded.
    void pushed(const Pushed& pushed);
    /// Called for a step that has no reply at power loss.
    void doubt(const Step& step);
    /// Called when a doomed job was leased.
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
