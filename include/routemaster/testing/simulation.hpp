/// @file
/// `World`: publishers, workers and subscribers around an embedded store, on a clock that stands
/// still, in which everything goes wrong that can go wrong, and all of it again for the same seed.
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

/// A promise that was broken in a world. The same seed breaks it again, at the same step.
class SimulationFailure final : public std::runtime_error {
public:
    /// `trace` are the last actions, one a line.
    SimulationFailure(std::uint64_t seed, std::uint64_t step, const std::string& broken,
                      const std::string& trace)
        : std::runtime_error{trace + "step " + std::to_string(step) + ": " + broken +
                             "\nROUTEMASTER_SEED=" + std::to_string(seed) + " does it again\n"},
          seed_{seed},
          step_{step},
          broken_{broken} {}

    /// The seed of the world.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    /// How many things had happened in it.
    [[nodiscard]] std::uint64_t step() const noexcept { return step_; }
    /// What was promised and is not so.
    [[nodiscard]] const std::string& broken() const noexcept { return broken_; }

private:
    std::uint64_t seed_;
    std::uint64_t step_;
    std::string broken_;
};

/// How often what goes wrong: probabilities from 0 to 1.
struct FaultRates {
    // Of each action of the world.
    double crashes = 0;      ///< The machine loses power, and what was not synced; all workers die.
    double kills = 0;        ///< A worker is killed, and another takes its place after a while.
    double stalls = 0;       ///< A worker stands still, for so long that it may be taken for dead.
    double retirements = 0;  ///< A worker is stopped in an orderly way and another takes its place.
    double churn = 0;        ///< A subscriber comes, goes, or changes its mind.
    double bad_input = 0;    ///< Somebody sends steps that are wrong.
    double operators = 0;    ///< Somebody redelivers or drops DEAD batches.
    double clock_sets = 0;   ///< The clock is set, by up to 15 s forth or back.

    // Of each submission between a client and the store.
    double lost_requests = 0;  ///< It never gets there.
    double lost_replies = 0;   ///< It is done, and nobody is told.
    double late_replies = 0;   ///< It is told up to a second late.

    // Of each commit.
    double disk_errors = 0;    ///< It fails once.
    double full_disks = 0;     ///< It fails, and so does everything until there is room again.
    double broken_reads = 0;   ///< It fails, and what was written cannot be read for a while.
    double slow_syncs = 0;     ///< It takes up to some seconds.
    double crashed_syncs = 0;  ///< Power is lost just when it ends: some were told, some were not.

    // Of each attempt to deliver a batch or to do a job.
    double refusals = 0;       ///< It fails before anything was done.
    double rejections = 0;     ///< The same, for good.
    double lost_receipts = 0;  ///< It was done, and is reported as a failure.
    double slow_ones = 0;      ///< It takes up to some seconds, longer than anybody waits.
    double fatal_ones = 0;     ///< It was done, and then its worker dies.

    bool drops = false;  ///< Whether the oldest batches are dropped when they take too much room.
};

/// Draws which fault rates there are, each in half of all worlds, and how often: worlds in which
/// not everything goes wrong at once reach states that others do not.
[[nodiscard]] FaultRates swarm(std::uint64_t seed);

/// Settings of a `World`.
struct WorldOptions {
    std::uint64_t actions = 2'000;  ///< What happens until everything heals.
    std::size_t subscribers = 3;    ///< Besides those of the test.
    std::size_t jobs = 20;          ///< Different ones that are pushed again and again; 0: none.
    std::size_t trace = 40;         ///< Actions that a failure tells.
    std::optional<FaultRates> fault_rates{};  ///< As `swarm` draws them, unless given.
};

/// Does a job. To throw means that it failed: the job comes again later.
using JobHandler = std::function<void(const Job&)>;

/// A machine with an embedded store and several worker processes, and clients that publish events
/// to topics `orders`, `refunds` and `stock` and push jobs. The engine of the store is the real one
/// over a simulated journal, the dispatchers are the real ones. Everything happens in the calling
/// thread, in an order that only the seed decides.
///
/// While it runs it checks the guarantees of docs/guarantees.md. In the end everything heals: what
/// was acknowledged must then arrive, nothing may remain, and gauges must equal a recount.
///
/// Thread safety: none; use it from one thread.
class World {
public:
    explicit World(std::uint64_t seed, WorldOptions options = {});
    ~World();

    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// The seed it was made of.
    [[nodiscard]] std::uint64_t seed() const noexcept;

    /// Its time, for what the test puts into it.
    [[nodiscard]] const Clock& clock() const noexcept;

    /// Lets a subscriber take part whose batches go to `handler`, one after the other and in order,
    /// as often as the world's fault rates make it. Every event has a URL of its own, which ends
    /// with its number. Before `run`.
    void subscribe(const std::string& token, const std::vector<std::string>& topics,
                   BatchHandler handler);

    /// Lets `handler` do the jobs of the world, `["work", [n]]`, as often as the world's fault
    /// rates make it. Before `run`.
    void handle(JobHandler handler);

    /// Lets everything happen, then heal and drain. Throws `SimulationFailure` when a promise was
    /// broken. Once.
    void run();

    /// Throws `SimulationFailure`, which says that `text` is not so, unless `truth`. May be called
    /// from handlers, too.
    void expect(bool truth, std::string_view text);

    /// A number that tells apart what happened: the same for the same seed.
    [[nodiscard]] std::uint64_t trace_hash() const noexcept;

    /// How many things have happened.
    [[nodiscard]] std::uint64_t steps() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Which worlds `simulate` makes.
struct SimulationOptions {
    std::uint64_t worlds = 100;
    std::uint64_t first_seed = 1;  ///< The seeds of the worlds count from here.
    WorldOptions world{};
};

/// Makes a world of each seed and calls `life` with it, until one fails: tells how. `life` puts its
/// handlers into the world, runs it, and says what it expects to be so.
[[nodiscard]] std::optional<SimulationFailure> simulate(const SimulationOptions& options,
                                                        const std::function<void(World&)>& life);

}  // namespace routemaster::testing
