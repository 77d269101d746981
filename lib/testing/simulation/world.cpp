#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients.hpp"
#include "doomed_jobs.hpp"
#include "invariant_checker.hpp"
#include "oracle.hpp"
#include "processes.hpp"
#include "routemaster/testing/simulation.hpp"
#include "simulation_context.hpp"
#include "store_process.hpp"
#include "subscribers.hpp"
#include "timer_accounts.hpp"

namespace routemaster::testing {
namespace {

using namespace simulation;

constexpr const char* fickle = "fickle";  // Subscribes and unsubscribes repeatedly.

constexpr Duration drain_max{300'000};
/// How long after the end of all faults replies and attempts may still be in progress that began
/// before. An attempt may still kill its worker, even if the lease was lost.
constexpr Duration late_max{9'500};
constexpr Duration clock_set_max{15'000};
/// Large enough to make `CatchUp::skip` skip ticks.
constexpr Duration clock_leap_max{120'000};
/// How long ticks continue after the faults have ended. Missed ticks must be run in this time.
constexpr Duration ticks_after_healing{6'000};
/// The probability of a recount after an action. A recount needs an idle store.
constexpr double recount_chance = 0.01;

}  // namespace

struct World::Impl {
    Impl(std::uint64_t seed, const WorldOptions& settings)
        : options{settings},
          context{seed, settings},
          oracle{context},
          store{context, oracle},
          invariant_checker{context, oracle, store},
          subscribers{context, oracle},
          processes{context, store, oracle, subscribers, options},
          clients{context, store, oracle, options} {
        store.crash_with([this] { crash(); });
        store.start();
        for (std::size_t i = 0; i < options.subscribers; ++i) {
            std::vector<std::string> wanted;
            for (const auto* topic : topics) {
                if (wanted.empty() || context.random.below(2) == 0) wanted.emplace_back(topic);
            }
            wanted.emplace_back(follow_up_topic);
            subscribe("subscriber-" + std::to_string(i), wanted,
                      {.concurrency = context.random.below(4) == 0 ? 3U : 1U,
                       .attempts_max = static_cast<std::uint32_t>(context.random.below(4)),
                       .dead_max = static_cast<std::uint32_t>(1 + context.random.below(20))});
        }
        invariant_checker.know(fickle);
    }

    struct Limits {
        std::uint32_t concurrency = 1;
        std::uint32_t attempts_max = 0;
        std::uint32_t dead_max = 1'000;
    };

    void subscribe(const std::string& token, const std::vector<std::string>& wanted,
                   Limits limits) {
        invariant_checker.know(token);
        Step step = subscription(token, wanted, limits);
        store.submit({&step, 1}, context.now(), [](std::span<Outcome>) {});
        store.settle();
    }

    Subscribe subscription(const std::string& token, const std::vector<std::string>& wanted,
                           Limits limits) {
        return {token,
                wanted,
                {.callback = "https://" + token + ".example/events",
                 .timeout = context.up_to(Duration{500}),
                 .max_events = static_cast<std::uint32_t>(1 + context.random.below(10)),
                 .max_in_flight = limits.concurrency,
                 .attempts_max = limits.attempts_max,
                 .dead_max = limits.dead_max}};
    }

    void crash() {
        if (!store.up()) return;
        if (store.idle())
            before_crash = {context.now(), invariant_checker.inventory(context.now())};
        processes.crash();
        store.crash();
        context.after(context.up_to(absence_max), [this] { restart(); });
    }

    void restart() {
        if (store.up()) return;
        store.start();
        oracle.read_again();
        if (before_crash &&
            !invariant_checker.unchanged(before_crash->second, before_crash->first)) {
            context.fail("the store changed across a crash");
        }
        before_crash.reset();
        invariant_checker.recount();
        processes.spawn_all();
    }

    void disturb() {
        const auto& fault_rates = context.fault_rates;
        if (context.happens(fault_rates.crashes)) crash();
        if (context.happens(fault_rates.kills)) processes.kill_one();
        if (context.happens(fault_rates.stalls)) processes.stall_one();
        if (context.happens(fault_rates.retirements)) processes.close_one();
        if (context.happens(fault_rates.churn) && store.up()) churn();
        if (context.happens(fault_rates.clock_sets)) {
            context.set_clock(context.up_to(2 * clock_set_max) - clock_set_max);
        }
        if (options.recurring > 0 && context.happens(fault_rates.clock_sets)) {
            context.set_clock(context.up_to(clock_leap_max));
        }
        if (context.happens(fault_rates.bad_input) && store.idle())
            invariant_checker.send_bad_input();
        if (context.happens(fault_rates.operators) && store.idle()) look_after_the_dead();
    }

    void look_after_the_dead() {
        std::vector<Step> steps;
        for (const auto& token : invariant_checker.known()) {
            const auto dead = invariant_checker.dead(token);
            if (dead.empty()) continue;
            std::optional<Uid> one;
            if (context.random.below(2) == 0) one = dead[context.random.below(dead.size())].uid;
            const bool dropped = context.random.below(4) == 0;
            context.note(
                (dropped ? "DEAD batches are dropped: " : "DEAD batches are redelivered: ") +
                (one ? std::string{one->text()} : "all batches of " + token));
            dropped ? steps.emplace_back(DropDeadBatches{token, one})
                    : steps.emplace_back(RedeliverDeadBatches{token, one});
        }
        if (repost_dead_timers(steps)) context.note("DEAD timers are posted again");
        if (!steps.empty()) store.submit(steps, context.now(), [](std::span<Outcome>) {});
    }

    bool repost_dead_timers(std::vector<Step>& steps) {
        if (options.timers == 0 || invariant_checker.dead_timers() == 0) return false;
        steps.emplace_back(RepostDeadTimers{timer_space, std::nullopt, context.now()});
        return true;
    }

    /// Redelivers all DEAD batches, and reposts all DEAD timers. Returns false when there were
    /// none.
    bool redeliver_all() {
        std::vector<Step> steps;
        for (const auto& token : invariant_checker.known()) {
            if (!invariant_checker.dead(token).empty())
                steps.emplace_back(RedeliverDeadBatches{token});
        }
        repost_dead_timers(steps);
        if (steps.empty()) return false;
        store.submit(steps, context.now(), [](std::span<Outcome>) {});
        return true;
    }

    void churn() {
        const auto topic = topics[context.random.below(topics.size())];
        Step step = [&]() -> Step {
            switch (context.random.below(4)) {
                case 0: return RemoveSubscriber{fickle};
                case 1: return Unsubscribe{fickle, topic};
                default: {
                    auto change = subscription(fickle, {topic}, {.attempts_max = 2});
                    // Constant, because a smaller value later would make earlier batches exceed the
                    // maximum.
                    change.options.max_events = 5;
                    return change;
                }
            }
        }();
        context.note("the subscriber that changes often subscribes again or unsubscribes");
        store.submit({&step, 1}, context.now(), [](std::span<Outcome>) {});
    }

    void step() {
        context.step();
        if (!store.up() || store.failing()) context.disturb();
        processes.excuse_absences();
        oracle.check_orphans();
        processes.replace_closed();
    }

    void run() {
        context.fault_rates = options.fault_rates ? *options.fault_rates : swarm(context.seed());
        processes.begin([this](const Lease& lease) { return clients.completion(lease); });
        clients.begin();
        for (std::uint64_t i = 0; i < options.actions; ++i) {
            step();
            disturb();
            if (context.happens(recount_chance) && store.idle()) invariant_checker.recount();
        }
        heal();
        drain();
        settle_accounts();
    }

    void heal() {
        context.note("all faults end");
        clients.heal();
        context.fault_rates = {};
        context.disturb();
        store.heal_disk();
        restart();
        processes.heal();
        if (options.recurring > 0) end_ticks();
    }

    /// Ends the ticks of recurring jobs, some time after the end of all faults. By then, a
    /// scheduler must have run all due and missed ticks.
    void end_ticks() {
        context.after(ticks_after_healing, [this] {
            store.settle();
            invariant_checker.recount();
            clients.pause_recurring();
        });
    }

    void drain() {
        drain_queues();
        if (!redeliver_all()) return;
        drain_queues();
        if (redeliver_all()) context.fail("batches or timers died after all faults had ended");
    }

    void drain_queues() {
        const auto deadline = context.moment() + drain_max;
        const auto all_ended = context.moment() + late_max;
        while (context.moment() < all_ended || !store.idle() || !invariant_checker.drained()) {
            if (context.moment() > deadline)
                context.fail("work is left long after all faults ended");
            do {
                step();
            } while (!store.take_committed() && context.moment() <= deadline);
        }
    }

    void settle_accounts() {
        invariant_checker.recount();
        const auto debts = oracle.debts(invariant_checker.dropped());
        if (!debts.empty()) context.fail(debts);
        if (oracle.dropped() > 0 && !processes.may_have_logged_drops()) {
            context.fail("events were dropped without a log line");
        }
        if (!oracle.doomed().may_be(store.ask(CountJobs{doomed_queue}, context.now()).buried)) {
            context.fail("wrong number of BURIED jobs that kill their workers");
        }
        context.note("all accounts are settled");
    }

    WorldOptions options;
    SimulationContext context;
    Oracle oracle;
    StoreProcess store;
    InvariantChecker invariant_checker;
    Subscribers subscribers;
    Processes processes;
    Clients clients;
    std::optional<std::pair<TimePoint, Inventory>> before_crash;
};

World::World(std::uint64_t seed, WorldOptions options)
    : impl_{std::make_unique<Impl>(seed, options)} {}

World::~World() = default;

std::uint64_t World::seed() const noexcept { return impl_->context.seed(); }
const Clock& World::clock() const noexcept { return impl_->context.clock; }
std::uint64_t World::trace_hash() const noexcept { return impl_->context.hash(); }
std::uint64_t World::steps() const noexcept { return impl_->context.steps(); }

void World::subscribe(const std::string& token, const std::vector<std::string>& wanted,
                      BatchHandler handler) {
    impl_->subscribers.handle_batches(token, std::move(handler));
    impl_->subscribe(token, wanted, {});
}

void World::handle(JobHandler handler) { impl_->subscribers.handle_jobs(std::move(handler)); }

void World::run() { impl_->run(); }

void World::expect(bool truth, std::string_view text) {
    if (!truth) impl_->context.fail("expected: " + std::string{text});
}

std::optional<SimulationFailure> simulate(const SimulationOptions& options,
                                          const std::function<void(World&)>& life) {
    for (std::uint64_t i = 0; i < options.worlds; ++i) {
        try {
            World world{options.first_seed + i, options.world};
            life(world);
        } catch (const SimulationFailure& failure) {
            return failure;
        }
    }
    return std::nullopt;
}

}  // namespace routemaster::testing
