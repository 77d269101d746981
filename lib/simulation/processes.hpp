/// @file
/// The worker processes of a world.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "job_worker.hpp"
#include "oracle.hpp"
#include "process.hpp"
#include "simulation_context.hpp"
#include "store_process.hpp"
#include "subscribers.hpp"

namespace routemaster::simulation {

/// The longest time until another takes the place of what died.
inline constexpr Duration absence_max{3'000};

/// Workers of each kind that the options of the world ask for. One that dies or is stopped is
/// replaced by another of its kind. Not thread safe.
class Processes {
public:
    /// All must outlive it.
    Processes(SimulationContext& context, StoreProcess& store, Oracle& oracle,
              Subscribers& subscribers, const testing::WorldOptions& options);

    /// Draws how many there are of each kind, and starts them. `complete` draws follow-ups of jobs.
    void begin(JobCompletion complete);

    /// Starts those that are missing, if the store is up.
    void spawn_all();

    // Each does it to one that chance decides, if there is one.
    void kill_one();
    void stall_one();
    void close_one();

    /// The machine of all of them loses power.
    void crash();

    /// Those that stall go on; those that are missing start.
    void heal();

    /// Replaces those that were stopped and have ended. Each must do that in time.
    void replace_closed();

    /// Tells the oracle for what there is no worker, and since when there were free ones: nobody
    /// can be expected to do in time what no free worker is there for.
    void excuse_absences();

    /// Whether some drop of events was logged, or its process died and may have left one unlogged.
    [[nodiscard]] bool may_have_logged_drops() const noexcept {
        return drops_logged_ > 0 || eviction_process_died_;
    }

private:
    struct Slot {
        std::string kind;
        std::unique_ptr<Process> process;
        std::uint64_t number = 0;  // Of the process.
        TimePoint free_since{};    // Since when it has been there, and could take more.
    };

    /// Whether its process does the jobs of the queue of jobs.
    [[nodiscard]] static bool does_jobs(const Slot& slot) {
        return slot.kind == "pool" || slot.kind == "job_worker";
    }

    void spawn(std::size_t slot);
    [[nodiscard]] std::unique_ptr<Process> started(const std::string& kind, const std::string& name,
                                                   const std::function<void()>& die);
    [[nodiscard]] std::vector<std::string> further_queues() const;
    void kill(std::size_t slot);
    [[nodiscard]] std::optional<std::size_t> any();
    void check_end(const Process& process);
    void excuse_queues();
    void note_who_is_free();

    SimulationContext& context_;
    StoreProcess& store_;
    Oracle& oracle_;
    Subscribers& subscribers_;
    const testing::WorldOptions& options_;
    JobCompletion complete_;
    Duration backoff_max_;
    std::vector<Slot> slots_;
    std::uint64_t last_process_ = 0;
    std::uint64_t drops_logged_ = 0;
    bool eviction_process_died_ = false;  // With a drop it might have logged.
};

}  // namespace routemaster::simulation
