/// @file
/// `World`: publishers, workers and subscribers around an embedded store, on a manual clock, with
/// every kind of fault, reproducible from a seed.
///
///     const auto failure = simulate({.worlds = 100}, [](World& world) {
///         std::map<std::string, int> charges;  // By URL. What happens outside survives crashes.
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

/// A guarantee that a world broke. The same seed breaks it again, at the same step.
class SimulationFailure final : public std::runtime_error {
public:
    /// `trace` has the last actions, one per line.
    SimulationFailure(std::uint64_t seed, std::uint64_t step, const std::string& broken,
                      const std::string& trace)
        : std::runtime_error{trace + "step " + std::to_string(step) + ": " + broken +
                             "\nROUTEMASTER_SEED=" + std::to_string(seed) + " does it again\n"},
          seed_{seed},
          step_{step},
          broken_{broken} {}

    /// The seed of the world.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    /// How many steps had happened in it.
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
    double crashes = 0;      ///< The machine loses power, and what was not synced; all workers die.
    double kills = 0;        ///< A worker is killed, and another takes its place after a while.
    double stalls = 0;       ///< A worker hangs, for so long that it may be taken for dead.
    double retirements = 0;  ///< A worker is stopped in an orderly way and another takes its place.
    double churn = 0;        ///< A subscriber comes, goes, or changes its settings.
    double bad_input = 0;    ///< Somebody submits invalid steps.
    double operators = 0;    ///< Somebody redelivers, reposts or drops what is DEAD.
    /// The clock is set, by up to 15 s forth or back; where there are recurring jobs, as often by
    /// up to two minutes forth.
    double clock_sets = 0;

    // For each submission between a client and the store.
    double lost_requests = 0;  ///< It never gets there.
    double lost_replies = 0;   ///< It is done, and the reply is lost.
    double late_replies = 0;   ///< The reply comes up to a second late.

    // For each commit.
    double disk_errors = 0;    ///< It fails once.
    double full_disks = 0;     ///< It fails, and so does everything until there is space again.
    double broken_reads = 0;   ///< It fails, and what was written cannot be read for a while.
    double slow_syncs = 0;     ///< It takes up to some seconds.
    double crashed_syncs = 0;  ///< Power is lost just when it ends: only some clients got replies.

    // For each attempt to deliver a batch, to do a job, or to handle a timer.
    double refusals = 0;       ///< It fails before anything was done.
    double rejections = 0;     ///< The same, permanently.
    double lost_receipts = 0;  ///< It was done, and is reported as a failure.
    double slow_ones = 0;      ///< It takes up to some seconds, longer than any timeout.
    double fatal_ones = 0;     ///< It was done, and then its worker dies.

    bool drops = false;  ///< Drop the oldest batches when they take too much space.
};

/// Draws which faults occur, each in half of all worlds, and how often: worlds without some faults
/// reach states that others do not.
[[nodiscard]] FaultRates swarm(std::uint64_t seed);

/// Settings of a `World`.
struct WorldOptions {
    std::uint64_t actions = 2'000;  ///< Number of actions until all faults end.
    std::size_t subscribers = 3;    ///< Besides those of the test.
    std::size_t jobs = 20;          ///< Different ones that are pushed again and again; 0: none.
    bool pools = false;             ///< Whether pools do jobs, too; then some jobs kill theirs.
    std::size_t timers = 0;         ///< Ids that timers are posted under again and again; 0: none.
    /// Recurring jobs and timers, which are put, paused, resumed and triggered again and again,
    /// whose ticks several schedulers run, and whose jobs pools do; 0: none.
    std::size_t recurring = 0;
    /// Whether the queue of jobs, and each of its groups, has rate limits, which change.
    bool rate_limits = false;
    /// Whether clients create batches of jobs, which pools do. Some of these wait for others, some
    /// are deleted, and some are BURIED and kicked.
    bool job_batches = false;
    std::size_t trace = 40;                   ///< Actions that a failure lists.
    std::optional<FaultRates> fault_rates{};  ///< As `swarm` draws them, unless set.
};

/// Does a job. Throwing means that it failed: the job runs again later.
using JobHandler = std::function<void(const Job&)>;

/// A machine with an embedded store and several worker processes, and clients that publish events
/// to topics `orders`, `refunds` and `stock`, push jobs, and post timers. The engine of the store,
/// the dispatchers, the pools, the listeners for timers, and the schedulers of recurring jobs are
/// the real ones; the journal is simulated. `WorldOptions` says what there is beside events and
/// jobs, for example pools whose jobs may not all begin at once:
///
///     World world{seed, {.subscribers = 0, .pools = true, .rate_limits = true}};
///     world.handle([&](const Job& job) { charge(job); });
///     world.run();
///
/// Everything happens in the calling thread, in an order that only the seed decides.
///
/// While it runs it checks the guarantees of docs/guarantees.md. In the end all faults end: what
/// was acknowledged must then arrive, nothing may remain, and gauges must equal a recount.
///
/// Not thread safe: use it from one thread.
class World {
public:
    explicit World(std::uint64_t seed, WorldOptions options = {});
    ~World();

    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// The seed it was created from.
    [[nodiscard]] std::uint64_t seed() const noexcept;

    /// Its clock, for handlers and tests.
    [[nodiscard]] const Clock& clock() const noexcept;

    /// Adds a subscriber whose batches go to `handler`, one after the other and in order, and again
    /// as the world's faults require. Every event has a URL of its own, which ends with its number.
    /// Call it before `run`.
    void subscribe(const std::string& token, const std::vector<std::string>& topics,
                   BatchHandler handler);

    /// Lets `handler` do the jobs of the world, `["work", [n]]`, and again as the world's faults
    /// require. Other jobs and events follow from half of them; no handler gets those. Call it
    /// before `run`.
    void handle(JobHandler handler);

    /// Runs all actions, then ends the faults and drains. Throws `SimulationFailure` when a
    /// guarantee was broken. Call it once.
    void run();

    /// Throws `SimulationFailure` with `text` unless `truth`. Handlers may call it, too.
    void expect(bool truth, std::string_view text);

    /// A hash of everything that happened: the same for the same seed.
    [[nodiscard]] std::uint64_t trace_hash() const noexcept;

    /// How many steps have happened.
    [[nodiscard]] std::uint64_t steps() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The worlds that `simulate` runs.
struct SimulationOptions {
    std::uint64_t worlds = 100;
    std::uint64_t first_seed = 1;  ///< The seed of the first world; the others follow.
    WorldOptions world{};
};

/// Runs `life` with a world of each seed until one fails, and returns the failure. `life` adds its
/// handlers to the world, runs it, and checks what it expects.
[[nodiscard]] std::optional<SimulationFailure> simulate(const SimulationOptions& options,
                                                        const std::function<void(World&)>& life);

}  // namespace routemaster::testing
