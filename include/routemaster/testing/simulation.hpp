/// @file
/// `World`: publishers, workers and subscribers around an embedded store, on a manual clock, with
/// every kind of fault, reproducible from a seed.
///
///     const auto failure = simulate({.worlds = 100}, [](World& world) {
///         std::map<std::string, int> charges;  // By URL. External effects survive crashes.
///         world.subscribe("billing", {"orders"}, [&](const Batch& batch) {
///             for (const auto& event : batch.events) ++charges[event.url];
///         });
///         world.run();
///         for (const auto& [url, times] : charges) world.expect(times == 1, "once: " + url);
///     });
///     if (failure) std::cerr << failure->what();  // A batch may arrive twice, so it fails.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/callbacks.hpp"
#include "routemaster/job.hpp"
#include "routemaster/time.hpp"

namespace routemaster::testing {

/// A guarantee that a world broke. A run with this seed breaks it again, at this step.
class SimulationFailure final : public std::runtime_error {
public:
    /// `trace` contains the last actions, one per line.
    SimulationFailure(std::uint64_t seed, std::uint64_t step, const std::string& broken,
                      const std::string& trace)
        : std::runtime_error{trace + "step " + std::to_string(step) + ": " + broken +
                             "\nROUTEMASTER_SEED=" + std::to_string(seed) + " does it again\n"},
          seed_{seed},
          step_{step},
          broken_{broken} {}

    /// The seed of the world.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    /// The number of steps in the world before the failure.
    [[nodiscard]] std::uint64_t step() const noexcept { return step_; }
    /// The broken expectation.
    [[nodiscard]] const std::string& broken() const noexcept { return broken_; }

private:
    std::uint64_t seed_;
    std::uint64_t step_;
    std::string broken_;
};

/// The rates of all faults: probabilities from 0 to 1.
struct FaultRates {
    // For each action of the world.
    double crashes = 0;      ///< The machine crashes: unsynced data are lost, and all workers die.
    double kills = 0;        ///< A worker is killed; after a while another worker replaces it.
    double stalls = 0;       ///< A worker hangs, perhaps long enough to count as dead.
    double retirements = 0;  ///< A worker is stopped in an orderly way; another worker replaces it.
    double churn = 0;        ///< A subscriber comes, goes, or changes its settings.
    double bad_input = 0;    ///< A client submits invalid steps.
    double operators = 0;    ///< An operator redelivers, reposts or drops DEAD batches and timers.
    /// The clock is set forward or back by up to 15 s. If there are recurring jobs, it is set
    /// forward as often by up to 2 minutes.
    double clock_sets = 0;

    // For each submission between a client and the store.
    double lost_requests = 0;  ///< The submission never reaches the store.
    double lost_replies = 0;   ///< The steps are done, and the reply is lost.
    double late_replies = 0;   ///< The reply comes up to a second late.

    // For each commit.
    double disk_errors = 0;   ///< The commit fails once.
    double full_disks = 0;    ///< The commit fails, and all commits until there is space again.
    double broken_reads = 0;  ///< The commit fails, and its data cannot be read for a while.
    double slow_syncs = 0;    ///< The commit takes up to some seconds.
    /// The machine crashes just as the sync ends: only some clients got replies.
    double crashed_syncs = 0;

    // For each attempt to deliver a batch, to do a job, or to handle a timer.
    double refusals = 0;       ///< The attempt fails before any work is done.
    double rejections = 0;     ///< The attempt fails permanently before any work is done.
    double lost_receipts = 0;  ///< The work is done, but reported as a failure.
    double slow_ones = 0;      ///< The attempt takes up to some seconds, longer than any timeout.
    double fatal_ones = 0;     ///< The work is done, and then the worker dies.

    bool drops = false;  ///< Whether to drop the oldest batches when they take too much space.
};

/// Draws the faults of a world: each fault occurs in half of all worlds, at a random rate. Worlds
/// without some faults reach states that worlds with all faults do not.
[[nodiscard]] FaultRates swarm(std::uint64_t seed);

/// Settings of a `World`.
struct WorldOptions {
    std::uint64_t actions = 2'000;  ///< Number of actions until all faults end.
    std::size_t subscribers = 3;    ///< Besides the subscribers of the test.
    std::size_t jobs = 20;          ///< Different jobs that are pushed again and again; 0: none.
    bool pools = false;      ///< Whether pools do jobs, too; some jobs then kill their pools.
    std::size_t timers = 0;  ///< Ids under which timers are posted again and again; 0: none.
    /// Recurring jobs and timers, which are put, paused, resumed and triggered again and again.
    /// Several schedulers run their ticks, and pools do their jobs. 0: none.
    std::size_t recurring = 0;
    /// Whether the job queue, and each of its groups, has rate limits, which change.
    bool rate_limits = false;
    /// Whether clients create batches of jobs, which pools do. Some of these jobs wait for jobs,
    /// some are deleted, and some are BURIED and kicked.
    bool job_batches = false;
    std::size_t trace = 40;                   ///< Actions that a failure lists.
    std::optional<FaultRates> fault_rates{};  ///< If absent, drawn by `swarm`.
};

/// Does a job. If it throws, the job has failed and runs again later.
using JobHandler = std::function<void(const Job&)>;

/// A machine with an embedded store and several worker processes, and clients that publish events
/// to topics `orders`, `refunds` and `stock`, push jobs, and post timers. The engine of the store,
/// the dispatchers, the pools, the timer listeners, and the schedulers of recurring jobs are real;
/// the journal is simulated. `WorldOptions` adds more than events and jobs, for example pools with
/// rate limits:
///
///     World world{seed, {.subscribers = 0, .pools = true, .rate_limits = true}};
///     world.handle([&](const Job& job) { charge(job); });
///     world.run();
///
/// Everything happens in the calling thread, in an order that depends only on the seed.
///
/// During the run, the world checks the guarantees of docs/guarantees.md. In the end all faults
/// end: all acknowledged data must then arrive, no data may remain, and gauges must equal a
/// recount.
///
/// Not thread safe: use the world from one thread.
class World {
public:
    explicit World(std::uint64_t seed, WorldOptions options = {});
    ~World();

    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// The seed of the world.
    [[nodiscard]] std::uint64_t seed() const noexcept;

    /// The clock of the world, for handlers and tests.
    [[nodiscard]] const Clock& clock() const noexcept;

    /// Adds a subscriber. `handler` receives its batches in order, one after another, and sometimes
    /// repeatedly because of faults. Every event has a unique URL, which ends with the number of
    /// the event. Call before `run`.
    void subscribe(const std::string& token, const std::vector<std::string>& topics,
                   BatchHandler handler);

    /// Sets the handler for the jobs of the world, `["work", [n]]`. Jobs may run repeatedly because
    /// of faults. Half of these jobs push follow-up jobs and events, which no handler receives.
    /// Call before `run`.
    void handle(JobHandler handler);

    /// Runs all actions, then ends the faults and drains. Throws `SimulationFailure` if a guarantee
    /// was broken. Call once.
    void run();

    /// Throws `SimulationFailure` with `text` unless `truth`. Handlers may call it, too.
    void expect(bool truth, std::string_view text);

    /// A hash of the whole run; equal for equal seeds.
    [[nodiscard]] std::uint64_t trace_hash() const noexcept;

    /// The number of steps so far.
    [[nodiscard]] std::uint64_t steps() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The worlds that `simulate` runs.
struct SimulationOptions {
    std::uint64_t worlds = 100;
    /// The seed of the first world; each further world has the next seed.
    std::uint64_t first_seed = 1;
    WorldOptions world{};
};

/// Runs `life` with a world for each seed until one world fails, and returns the failure. `life`
/// adds its handlers to the world, runs the world, and checks its expectations.
[[nodiscard]] std::optional<SimulationFailure> simulate(const SimulationOptions& options,
                                                        const std::function<void(World&)>& life);

}  // namespace routemaster::testing
