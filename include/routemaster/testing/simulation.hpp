/// @file
/// `World`: a simulation of publishers, workers and subscribers around an embedded store, on a
/// manual clock, with all kinds of faults, reproducible from a seed.
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

/// The violation of a guarantee in a world. A world with this seed reproduces it, at this step.
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

    /// Returns the seed of the world.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    /// Returns the number of steps before the failure.
    [[nodiscard]] std::uint64_t step() const noexcept { return step_; }
    /// Returns the text of the violated expectation.
    [[nodiscard]] const std::string& broken() const noexcept { return broken_; }

private:
    std::uint64_t seed_;
    std::uint64_t step_;
    std::string broken_;
};

/// The rates of all faults, as probabilities from 0 to 1.
struct FaultRates {
    // Faults before each action of the world.
    double crashes = 0;      ///< The machine crashes: unsynced data are lost, all workers die.
    double kills = 0;        ///< A worker is killed; after a while another worker replaces it.
    double stalls = 0;       ///< A worker hangs, perhaps long enough to count as dead.
    double retirements = 0;  ///< A worker is stopped in an orderly way; another worker replaces it.
    double churn = 0;        ///< A subscriber is added, removed or changed.
    double bad_input = 0;    ///< A client submits invalid steps.
    double operators = 0;    ///< An operator redelivers, reposts or drops DEAD batches and timers.
    /// The clock is set forward or back by up to 15 s. If there are recurring jobs, it is also set
    /// forward by up to 2 minutes, equally often.
    double clock_sets = 0;

    // Faults for each submission of a client to the store.
    double lost_requests = 0;  ///< The submission does not reach the store.
    double lost_replies = 0;   ///< The steps are performed, and the reply is lost.
    double late_replies = 0;   ///< The reply arrives up to a second late.

    // Faults for each commit.
    double disk_errors = 0;   ///< The commit fails once.
    double full_disks = 0;    ///< This commit fails, and all commits until space is freed.
    double broken_reads = 0;  ///< The commit fails, and for a while its data are unreadable.
    double slow_syncs = 0;    ///< The commit lasts up to some seconds.
    /// The machine crashes during the replies after a sync, so only some clients get replies.
    double crashed_syncs = 0;

    // Faults for each attempt to deliver a batch, to run a job, or to handle a timer.
    double refusals = 0;       ///< The attempt fails before any work is done.
    double rejections = 0;     ///< The attempt fails permanently before any work is done.
    double lost_receipts = 0;  ///< The work is done, but reported as a failure.
    double slow_ones = 0;      ///< The attempt lasts up to some seconds, longer than any timeout.
    double fatal_ones = 0;     ///< The work is done, and then the worker crashes.

    bool drops = false;  ///< Whether to drop the oldest batches when they use too much space.
};

/// Selects the faults of a world: each fault occurs in half of all worlds, at a random rate. Worlds
/// without some faults reach states that are never reached with all faults.
[[nodiscard]] FaultRates swarm(std::uint64_t seed);

/// Settings of a `World`.
struct WorldOptions {
    std::uint64_t actions = 2'000;  ///< Number of actions during which faults occur.
    std::size_t subscribers = 3;    ///< In addition to the subscribers of the test.
    std::size_t jobs = 20;   ///< Number of different jobs, each pushed repeatedly; 0: no jobs.
    bool pools = false;      ///< Whether pools run jobs, too. Some jobs then crash their pools.
    std::size_t timers = 0;  ///< Number of timer ids, each posted repeatedly; 0: no timers.
    /// Number of recurring jobs and timers, which are put, paused, resumed and triggered
    /// repeatedly. Several schedulers run their ticks, and pools run their jobs. 0: none.
    std::size_t recurring = 0;
    /// Whether the job queue, and each of its groups, has rate limits, which change repeatedly.
    bool rate_limits = false;
    /// Whether clients create batches of jobs, which pools run. Some of these jobs depend on
    /// others, some are deleted, and some are BURIED and kicked.
    bool job_batches = false;
    std::size_t trace = 40;  ///< Maximum number of actions in the text of a failure.
    std::optional<FaultRates> fault_rates{};  ///< If absent, drawn by `swarm`.
};

/// Function that runs a job. If it throws, the job has failed and is retried later.
using JobHandler = std::function<void(const Job&)>;

/// Simulated machine with an embedded store and several worker processes, and with clients that
/// publish events to the topics `orders`, `refunds` and `stock`, push jobs, and post timers. The
/// engine of the store, the dispatchers, the pools, the timer listeners, and the schedulers are
/// real; only the journal is simulated. `WorldOptions` adds to events and jobs, for example pools
/// with rate limits:
///
///     World world{seed, {.subscribers = 0, .pools = true, .rate_limits = true}};
///     world.handle([&](const Job& job) { charge(job); });
///     world.run();
///
/// Everything runs on the calling thread, in an order that depends only on the seed.
///
/// During the run, the world checks the guarantees of docs/guarantees.md. At the end of the run,
/// all faults stop. Then all acknowledged data must arrive, no data may remain in the store, and
/// gauges must equal a recount.
///
/// Not thread safe: use a world from one thread.
class World {
public:
    explicit World(std::uint64_t seed, WorldOptions options = {});
    ~World();

    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// Returns the seed of the world.
    [[nodiscard]] std::uint64_t seed() const noexcept;

    /// Returns the clock of the world, for handlers and tests.
    [[nodiscard]] const Clock& clock() const noexcept;

    /// Adds a subscriber. `handler` receives its batches in order, one after another, and sometimes
    /// repeatedly because of faults. Every event has a unique URL that ends with the number of the
    /// event. Call this function before `run`.
    void subscribe(const std::string& token, const std::vector<std::string>& topics,
                   BatchHandler handler);

    /// Sets the handler for the jobs of the world, `["work", [n]]`. Jobs may run repeatedly because
    /// of faults. Half of these jobs push follow-up jobs and events, which no handler receives.
    /// Call this function before `run`.
    void handle(JobHandler handler);

    /// Runs all actions, then stops the faults and processes all remaining work. Throws
    /// `SimulationFailure` if a guarantee was violated. Call it once.
    void run();

    /// Throws `SimulationFailure` with `text` if `truth` is false. Handlers may call it, too.
    void expect(bool truth, std::string_view text);

    /// Returns a hash of the whole run, which is equal for equal seeds.
    [[nodiscard]] std::uint64_t trace_hash() const noexcept;

    /// Returns the number of steps so far.
    [[nodiscard]] std::uint64_t steps() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Settings of `simulate`.
struct SimulationOptions {
    std::uint64_t worlds = 100;
    /// The seed of the first world; each further world has the next seed.
    std::uint64_t first_seed = 1;
    WorldOptions world{};
};

/// Calls `life` with a new world for each seed, until a world fails, and returns this failure.
/// `life` adds handlers to the world, runs the world, and checks its expectations.
[[nodiscard]] std::optional<SimulationFailure> simulate(const SimulationOptions& options,
                                                        const std::function<void(World&)>& life);

}  // namespace routemaster::testing
