/// @file
/// `Processes`: the worker processes of a world.

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

/// The longest time until a dead process is replaced.
inline constexpr Duration absence_max{3'000};

/// Supervisor of worker processes, of all kinds demanded by the options of the world. A dead or
/// stopped process is replaced by a new process of its kind. Not thread safe.
class Processes {
public:
    Processes(SimulationContext& context, StoreProcess& store, Oracle& oracle,
              Subscribers& subscribers, const testing::WorldOptions& options);

    /// Draws the number of processes of each kind, and starts the processes. `complete` draws
    /// follow-ups of jobs.
    void begin(JobCompletion complete);

    void spawn_all();

    // Each function affects a random process, if the drawn slot has one.
    void kill_one();
    void stall_one();
    void close_one();

    /// Kills all processes, as a power failure of their machine would.
    void crash();

    void heal();

    /// Replaces stopped processes. Fails the simulation when a process stops too late.
    void replace_closed();

    /// Tells the oracle which queues have no worker, and since when each kind of work has had a
    /// process with a free slot. Without a free slot, the oracle expects no work in time.
    void excuse_absences();

    /// Whether a drop of events was logged, or an eviction process died before it could log a drop.
    [[nodiscard]] bool may_have_logged_drops() const noexcept {
        return drops_logged_ > 0 || eviction_process_died_;
    }

private:
    struct Slot {
        std::string kind;
        std::unique_ptr<Process> process;
        std::uint64_t number = 0;
        TimePoint free_since{};  // Since when the process has had a free slot.
    };

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
    // An eviction process died, perhaps before it logged a drop.
    bool eviction_process_died_ = false;
};

}  // namespace routemaster::simulation
