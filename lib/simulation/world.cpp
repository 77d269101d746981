#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delivery_worker.hpp"
#include "doomed_jobs.hpp"
#include "eviction_process.hpp"
#include "invariant_checker.hpp"
#include "job_batch_accounts.hpp"
#include "job_batch_client.hpp"
#include "job_worker.hpp"
#include "link.hpp"
#include "oracle.hpp"
#include "pool_process.hpp"
#include "rate_client.hpp"
#include "recurring_accounts.hpp"
#include "recurring_client.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/testing/simulation.hpp"
#include "scheduler_process.hpp"
#include "simulation_context.hpp"
#include "store_process.hpp"
#include "subscribers.hpp"
#include "timer_accounts.hpp"
#include "timer_client.hpp"
#include "timer_process.hpp"

namespace routemaster::testing {
namespace {

using namespace simulation;

constexpr std::array topics{"orders", "refunds", "stock"};
constexpr const char* fickle = "fickle";  // The subscriber that comes and goes.

constexpr Duration absence_max{3'000};
constexpr Duration stall_max{12'000};
constexpr Duration drain_max{300'000};
/// When replies and attempts have ended that were under way when all healed. The worker of an
/// attempt may still die with it, whether its lease is lost or not.
constexpr Duration late_max{9'500};
constexpr Duration clock_set_max{15'000};
/// So far that ticks are skipped.
constexpr Duration clock_leap_max{120'000};
/// How long after all has healed ticks still come: any that was missed must have been run by then.
constexpr Duration ticks_after_healing{6'000};
/// Of clients that go on until nothing is left to do.
constexpr Duration healing_pace{1'000};
/// The longest time between two changes of rate limits.
constexpr Duration limits_last_max{20'000};

/// The topic of events that follow from jobs. They have their numbers long before they are
/// published, so those who expect them in order are not subscribed to it.
constexpr const char* follow_up_topic = "follow_ups";

/// Of each action: whether gauges are counted again, when nothing is under way.
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
          backoff_max{100 + context.up_to(Duration{2'000}).count()},
          pace{std::int64_t{20} << context.random.below(6)} {
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

    // --- The beginning --------------------------------------------------------------------------

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

    void populate() {
        const auto several = [&](std::uint64_t most) { return 1 + context.random.below(most); };
        for (auto left = several(3); left > 0; --left) slots.push_back({"delivery_worker", {}});
        if (options.jobs > 0) {
            for (auto left = several(3); left > 0; --left) {
                // The last one is, as nobody else takes all jobs.
                const bool pool = options.pools && (left == 1 || context.random.below(2) == 0);
                slots.push_back({pool ? "pool" : "job_worker", {}});
            }
        }
        if (options.timers > 0) {
            for (auto left = several(3); left > 0; --left) slots.push_back({"listener", {}});
        }
        if (options.recurring > 0 || options.job_batches) {
            for (auto left = several(3); left > 0; --left) slots.push_back({"pool", {}});
        }
        if (options.recurring > 0) {
            for (auto left = several(3); left > 0; --left) slots.push_back({"scheduler", {}});
        }
        if (context.fault_rates.drops) slots.push_back({"eviction_process", {}});
        for (std::size_t i = 0; i < slots.size(); ++i) spawn(i);
        for (auto left = several(3); left > 0; --left) {
            clients.push_back(std::make_unique<Link>(context, store));
            let_publish(*clients.back());
            if (options.jobs > 0) let_push(*clients.back());
            if (options.timers > 0) {
                timer_clients.push_back(
                    std::make_unique<TimerClient>(context, store, options.timers, last_timer));
                let_act(*timer_clients.back());
            }
            if (options.recurring > 0) {
                recurring_clients.push_back(
                    std::make_unique<RecurringClient>(context, store, options.recurring));
                let_act(*recurring_clients.back());
            }
            if (options.job_batches) {
                batch_clients.push_back(std::make_unique<JobBatchClient>(
                    context, store, last_job_batch, last_batched_job));
                let_act(*batch_clients.back());
            }
        }
        if (options.recurring > 0) let_take_timers(*recurring_clients.front());
        if (options.rate_limits) {
            rate_client = std::make_unique<RateClient>(context, store, job_queue);
            let_limit();
        }
    }

    // --- Clients --------------------------------------------------------------------------------

    void let_publish(Link& client) {
        context.after(context.up_to(pace), [this, &client] {
            if (healing) return;
            publish(client);
            let_publish(client);
        });
    }

    void publish(Link& client) {
        const auto now = context.now();
        std::vector<Step> steps;
        for (auto left = 1 + context.random.below(3); left > 0; --left) {
            steps.emplace_back(next_publication(topics[context.random.below(topics.size())]));
        }
        context.note("publish " + std::to_string(steps.size()) + " events up to " +
                     std::to_string(last_event));
        client.submit(steps, now, [](std::span<Outcome>) {});
    }

    PublishEvent next_publication(const std::string& topic) {
        const auto now = context.now();
        const Event event{
            .topic = topic,
            .type = EventType::update,
            .url = "https://world.example/" + topic + "/" + std::to_string(++last_event)};
        return {.topic = topic,
                .publisher = {},
                .message = encode_message(event, now),
                .timestamp = now - context.up_to(Duration{100}),
                .uid = drawn_uid()};
    }

    /// A job and maybe an event follow, each with a number that nothing else has.
    CompleteJob completion(const Lease& lease) {
        CompleteJob step{lease};
        if (context.random.below(2) == 0)
            step.publications.push_back(next_publication(follow_up_topic));
        const Job job{follow_up_name, {static_cast<std::int64_t>(++last_follow_up)}};
        const auto run_at = context.now() + context.up_to(Duration{500});
        step.pushes.push_back({job_queue, encode_job(job), run_at, {.attempts_max = 0}});
        return step;
    }

    void let_push(Link& client) {
        context.after(context.up_to(2 * pace), [this, &client] {
            if (healing) return;
            push(client);
            let_push(client);
        });
    }

    /// Each may kill several pools, so there are few.
    void push_doomed(Link& client) {
        const auto now = context.now();
        const Job job{doomed_name, {static_cast<std::int64_t>(++last_doomed)}};
        context.note("push doomed job " + std::to_string(last_doomed));
        Step step =
            PushJob{doomed_queue, encode_job(job), now, {.attempts_max = doomed_attempts_max}};
        client.submit({&step, 1}, now, [](std::span<Outcome>) {});
    }

    void push(Link& client) {
        if (options.pools && context.random.below(40) == 0) return push_doomed(client);
        const auto number = context.random.below(options.jobs);
        const auto now = context.now();
        const auto run_at =
            now + (context.random.below(2) == 0 ? Duration{0} : context.up_to(Duration{2'000}));
        context.note("push job " + std::to_string(number));
        const Job job{work_name, {static_cast<std::int64_t>(number)}};
        PushJob push{job_queue, encode_job(job), run_at, {.attempts_max = 0}};
        // Some have a group: some of those run one after the other, some two at a time.
        if (const auto group = number % 12; group < 6) {
            push.options.group = "group " + std::to_string(group);
            push.options.concurrency = group < 4 ? 1 : 2;
        }
        if (context.random.below(4) == 0) push.after = oracle.draw_dependencies();
        Step step = std::move(push);
        client.submit({&step, 1}, now, [](std::span<Outcome>) {});
    }

    void let_act(TimerClient& client) {
        context.after(context.up_to(pace), [this, &client] {
            if (healing) return;
            client.act();
            let_act(client);
        });
    }

    void let_act(RecurringClient& client) {
        context.after(context.up_to(2 * pace), [this, &client] {
            if (healing) return;
            client.act();
            let_act(client);
        });
    }

    void let_act(JobBatchClient& client) {
        context.after(context.up_to(healing ? healing_pace : pace), [this, &client] {
            healing ? client.finish() : client.act();
            let_act(client);
        });
    }

    void let_take_timers(RecurringClient& client) {
        context.after(context.up_to(healing ? healing_pace : pace), [this, &client] {
            client.take_timers();
            let_take_timers(client);
        });
    }

    void let_limit() {
        rate_client->act();
        context.after(context.up_to(limits_last_max), [this] {
            if (!healing) let_limit();
        });
    }

    Uid drawn_uid() {
        const auto high = context.random.next();
        return {high, context.random.next()};
    }

    // --- Workers --------------------------------------------------------------------------------

    void spawn(std::size_t slot) {
        auto& [kind, process, number, free_since] = slots[slot];
        if (process || !store.up()) return;
        number = ++last_process;
        free_since = context.moment();
        const auto name = kind + "-" + std::to_string(number);
        const auto die = [this, slot, own = number] {
            context.after(Duration{0}, [this, slot, own] {
                if (slots[slot].number == own) kill(slot);
            });
        };
        if (kind == "delivery_worker") {
            process = std::make_unique<DeliveryWorker>(context, store, subscribers, name,
                                                       backoff_max, die);
        } else if (kind == "job_worker") {
            const auto complete = [this](const Lease& lease) { return completion(lease); };
            process = std::make_unique<JobWorker>(context, store, subscribers, name, complete, die);
        } else if (kind == "pool") {
            process = std::make_unique<PoolProcess>(context, store, subscribers, name,
                                                    further_queues(), die);
        } else if (kind == "scheduler") {
            process = std::make_unique<SchedulerProcess>(context, store, name);
        } else if (kind == "listener") {
            process = std::make_unique<TimerProcess>(context, store, oracle.timers(), subscribers,
                                                     name, die);
        } else {
            process = std::make_unique<EvictionProcess>(
                context, store, 2'000 + context.random.below(6'000), [this] { ++drops_logged; });
        }
        context.note(name + " begins as " + std::string{process->worker().text()});
    }

    /// What pools serve beside the queue of jobs.
    [[nodiscard]] std::vector<std::string> further_queues() const {
        std::vector<std::string> further;
        if (options.recurring > 0) further.emplace_back(tick_queue);
        if (options.job_batches) {
            further.emplace_back(batched_queue);
            further.emplace_back(callback_queue);
        }
        return further;
    }

    void kill(std::size_t slot) {
        auto& process = slots[slot].process;
        if (!process) return;
        context.note(process->name() + " is killed");
        oracle.killed(process->worker());
        eviction_process_died = eviction_process_died || slots[slot].kind == "eviction_process";
        process.reset();
        context.after(context.up_to(absence_max), [this, slot] { spawn(slot); });
    }

    /// Any slot with a process in it.
    std::optional<std::size_t> any_process() {
        const auto slot = context.random.below(slots.size());
        return slots[slot].process ? std::optional<std::size_t>{slot} : std::nullopt;
    }

    void replace_closed() {
        for (auto& slot : slots) {
            if (!slot.process || !slot.process->closing()) continue;
            if (does_jobs(slot)) check_end(*slot.process);
            if (!slot.process->closed()) continue;
            oracle.killed(slot.process->worker());
            slot.process.reset();
            spawn(static_cast<std::size_t>(&slot - slots.data()));
        }
    }

    /// One that was stopped ends in time, and has given back what it had.
    void check_end(const Process& process) {
        if (process.overstays()) context.fail(process.name() + " does not end");
        const bool calm = context.disturbed_until < process.closing_since();
        if (calm && process.closed()) oracle.must_have_no_lease(process.worker());
    }

    // --- Faults ---------------------------------------------------------------------------------

    void crash() {
        if (!store.up()) return;
        eviction_process_died = true;
        if (store.idle())
            before_crash = {context.now(), invariant_checker.inventory(context.now())};
        for (auto& slot : slots) slot.process.reset();
        store.crash();
        context.after(context.up_to(absence_max), [this] { restart(); });
    }

    void restart() {
        if (store.up()) return;
        store.start();
        oracle.read_again();
        if (before_crash &&
            !invariant_checker.unchanged(before_crash->second, before_crash->first)) {
            context.fail("the store is not what it was before the crash");
        }
        before_crash.reset();
        invariant_checker.recount();
        for (std::size_t i = 0; i < slots.size(); ++i) spawn(i);
    }

    void disturb() {
        const auto& fault_rates = context.fault_rates;
        if (context.happens(fault_rates.crashes)) crash();
        if (context.happens(fault_rates.kills)) {
            if (const auto slot = any_process()) kill(*slot);
        }
        if (context.happens(fault_rates.stalls)) {
            if (const auto slot = any_process()) {
                slots[*slot].process->stall(context.up_to(stall_max));
            }
        }
        if (context.happens(fault_rates.retirements)) {
            const auto slot = any_process();
            if (slot && !slots[*slot].process->closing()) {
                slots[*slot].process->close(context.up_to(Duration{1'000}));
            }
        }
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
                (one ? std::string{one->text()} : "all of " + token));
            dropped ? steps.emplace_back(DropDeadBatches{token, one})
                    : steps.emplace_back(RedeliverDeadBatches{token, one});
        }
        if (repost_dead_timers(steps)) context.note("DEAD timers are reposted");
        if (!steps.empty()) store.submit(steps, context.now(), [](std::span<Outcome>) {});
    }

    /// Adds the step for it, if there are some.
    bool repost_dead_timers(std::vector<Step>& steps) {
        if (options.timers == 0 || invariant_checker.dead_timers() == 0) return false;
        steps.emplace_back(RepostDeadTimers{timer_space, std::nullopt, context.now()});
        return true;
    }

    /// Whether there were DEAD batches or timers, which are all under way again.
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
                    // Always the same, so that no batch is more than full.
                    change.options.max_events = 5;
                    return change;
                }
            }
        }();
        context.note("the fickle subscriber changes its mind");
        store.submit({&step, 1}, context.now(), [](std::span<Outcome>) {});
    }

    // --- Life -----------------------------------------------------------------------------------

    void step() {
        context.step();
        excuse_absences();
        note_who_is_free();
        oracle.check_orphans();
        replace_closed();
    }

    /// Nobody can be expected to do the work of a queue whose workers are all away.
    void excuse_absences() {
        if (!store.up() || store.failing()) context.disturb();
        for (const char* queue : {delivery_queue, job_queue}) {
            const bool somebody = std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) {
                const auto& process = slot.process;
                return process && process->queue() == queue && !process->stalled() &&
                       !process->closing();
            });
            // With rate limits a job that nobody has waits for a token as well.
            const bool limited = options.rate_limits && std::string_view{queue} == job_queue;
            if (!somebody || limited) oracle.excuse(queue);
        }
    }

    /// Nobody can be expected to do anything in time but who is there, and free.
    void note_who_is_free() {
        auto listened = context.moment();
        auto scheduled = listened;
        auto worked = listened;
        for (auto& slot : slots) {
            const auto& process = slot.process;
            const bool is_free =
                process && !process->stalled() && !process->closing() && !process->busy();
            if (!is_free) slot.free_since = context.moment();
            if (slot.kind == "listener") listened = std::min(listened, slot.free_since);
            if (slot.kind == "scheduler") scheduled = std::min(scheduled, slot.free_since);
            if (does_jobs(slot)) worked = std::min(worked, slot.free_since);
        }
        oracle.timers().listened_since(listened);
        oracle.recurring().scheduled_since(scheduled);
        oracle.rates().worked_since(worked);
    }

    void run() {
        context.fault_rates = options.fault_rates ? *options.fault_rates : swarm(context.seed());
        populate();
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
        context.note("everything heals");
        healing = true;
        context.fault_rates = {};
        context.disturb();
        store.heal_disk();
        restart();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].process) slots[i].process->go_on();
            spawn(i);
        }
        if (options.recurring > 0) end_ticks();
    }

    /// By then a scheduler must have run all that came, or was missed. No fault comes between.
    void end_ticks() {
        context.after(ticks_after_healing, [this] {
            store.settle();
            invariant_checker.recount();
            recurring_clients.front()->pause_all();
        });
    }

    void drain() {
        drain_queues();
        if (!redeliver_all()) return;
        drain_queues();
        if (redeliver_all()) context.fail("batches or timers died after all has healed");
    }

    void drain_queues() {
        const auto deadline = context.moment() + drain_max;
        const auto all_ended = context.moment() + late_max;
        while (context.moment() < all_ended || !store.idle() || !invariant_checker.drained()) {
            if (context.moment() > deadline)
                context.fail("there is work left long after all has healed");
            do {
                step();
            } while (!store.take_committed() && context.moment() <= deadline);
        }
    }

    void settle_accounts() {
        invariant_checker.recount();
        const auto debts = oracle.debts(invariant_checker.dropped());
        if (!debts.empty()) context.fail(debts);
        if (oracle.dropped() > 0 && drops_logged == 0 && !eviction_process_died) {
            context.fail("events were dropped, and nothing was logged");
        }
        if (!oracle.doomed().may_be(store.ask(CountJobs{doomed_queue}, context.now()).buried)) {
            context.fail("not all jobs that kill their workers are BURIED, or too many");
        }
        context.note("all accounts are settled");
    }

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

    WorldOptions options;
    SimulationContext context;
    Oracle oracle;
    StoreProcess store;
    InvariantChecker invariant_checker;
    Subscribers subscribers;
    Duration backoff_max;
    Duration pace;  // Of clients: some worlds are busy, others last longer.
    std::vector<std::unique_ptr<Link>> clients;
    std::vector<std::unique_ptr<TimerClient>> timer_clients;
    std::vector<std::unique_ptr<RecurringClient>> recurring_clients;
    std::vector<std::unique_ptr<JobBatchClient>> batch_clients;
    std::unique_ptr<RateClient> rate_client;
    std::vector<Slot> slots;
    std::optional<std::pair<TimePoint, Inventory>> before_crash;
    std::uint64_t last_event = 0;
    std::uint64_t last_follow_up = 0;
    std::uint64_t last_doomed = 0;
    std::int64_t last_timer = 0;
    std::int64_t last_job_batch = 0;
    std::int64_t last_batched_job = 0;
    std::uint64_t last_process = 0;
    std::uint64_t drops_logged = 0;
    bool eviction_process_died = false;  // With a drop it might have logged.
    bool healing = false;
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

FaultRates swarm(std::uint64_t seed) {
    Random random{scatter(seed ^ 0x5eedU)};
    const auto rate = [&](double most) {
        return random.below(2) == 0 ? 0.0 : most * random.unit();
    };
    return {.crashes = rate(0.005),
            .kills = rate(0.01),
            .stalls = rate(0.005),
            .retirements = rate(0.005),
            .churn = rate(0.01),
            .bad_input = rate(0.005),
            .operators = rate(0.01),
            .clock_sets = rate(0.003),
            .lost_requests = rate(0.05),
            .lost_replies = rate(0.05),
            .late_replies = rate(0.05),
            .disk_errors = rate(0.02),
            .full_disks = rate(0.005),
            .broken_reads = rate(0.005),
            .slow_syncs = rate(0.005),
            .crashed_syncs = rate(0.01),
            .refusals = rate(0.3),
            .rejections = rate(0.05),
            .lost_receipts = rate(0.1),
            .slow_ones = rate(0.05),
            .fatal_ones = rate(0.05),
            .drops = random.below(4) == 0};
}

}  // namespace routemaster::testing
