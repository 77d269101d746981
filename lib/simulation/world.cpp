#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "auditor.hpp"
#include "courier.hpp"
#include "labourer.hpp"
#include "ledger.hpp"
#include "link.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/testing/simulation.hpp"
#include "stage.hpp"
#include "store_process.hpp"
#include "subscribers.hpp"
#include "warden.hpp"

namespace routemaster::testing {
namespace {

using namespace simulation;

constexpr std::array topics{"orders", "refunds", "stock"};
constexpr const char* fickle = "fickle";  // The subscriber that comes and goes.

constexpr Duration absence_max{3'000};
constexpr Duration stall_max{12'000};
constexpr Duration drain_max{300'000};
constexpr Duration replies_late_max{1'500};
constexpr Duration clock_set_max{15'000};

/// Of each action: whether gauges are counted again, when nothing is under way.
constexpr double recount_chance = 0.01;

}  // namespace

struct World::Impl {
    Impl(std::uint64_t seed, const WorldOptions& settings)
        : options{settings},
          stage{seed, settings},
          ledger{stage},
          store{stage, ledger},
          auditor{stage, ledger, store},
          subscribers{stage, ledger},
          backoff_max{100 + stage.up_to(Duration{2'000}).count()},
          pace{std::int64_t{20} << stage.random.below(6)} {
        store.crash_with([this] { crash(); });
        store.start();
        for (std::size_t i = 0; i < options.subscribers; ++i) {
            std::vector<std::string> wanted;
            for (const auto* topic : topics) {
                if (wanted.empty() || stage.random.below(2) == 0) wanted.emplace_back(topic);
            }
            subscribe("subscriber-" + std::to_string(i), wanted,
                      {.width = stage.random.below(4) == 0 ? 3U : 1U,
                       .attempts_max = static_cast<std::uint32_t>(stage.random.below(4)),
                       .dead_max = static_cast<std::uint32_t>(1 + stage.random.below(20))});
        }
        auditor.know(fickle);
    }

    // --- The beginning --------------------------------------------------------------------------

    struct Limits {
        std::uint32_t width = 1;
        std::uint32_t attempts_max = 0;
        std::uint32_t dead_max = 1'000;
    };

    void subscribe(const std::string& token, const std::vector<std::string>& wanted,
                   Limits limits) {
        auditor.know(token);
        Step step = subscription(token, wanted, limits);
        store.submit({&step, 1}, stage.now(), [](std::span<Outcome>) {});
        store.settle();
    }

    Subscribe subscription(const std::string& token, const std::vector<std::string>& wanted,
                           Limits limits) {
        return {token,
                wanted,
                {.callback = "https://" + token + ".example/events",
                 .timeout = stage.up_to(Duration{500}),
                 .max_events = static_cast<std::uint32_t>(1 + stage.random.below(10)),
                 .max_in_flight = limits.width,
                 .attempts_max = limits.attempts_max,
                 .dead_max = limits.dead_max}};
    }

    void populate() {
        const auto several = [&](std::uint64_t most) { return 1 + stage.random.below(most); };
        for (auto left = several(3); left > 0; --left) slots.push_back({"courier", {}});
        if (options.jobs > 0) {
            for (auto left = several(3); left > 0; --left) slots.push_back({"labourer", {}});
        }
        if (stage.mishaps.drops) slots.push_back({"warden", {}});
        for (std::size_t i = 0; i < slots.size(); ++i) spawn(i);
        for (auto left = several(3); left > 0; --left) {
            clients.push_back(std::make_unique<Link>(stage, store));
            let_publish(*clients.back());
            if (options.jobs > 0) let_push(*clients.back());
        }
    }

    // --- Clients --------------------------------------------------------------------------------

    void let_publish(Link& client) {
        stage.after(stage.up_to(pace), [this, &client] {
            if (healing) return;
            publish(client);
            let_publish(client);
        });
    }

    void publish(Link& client) {
        const auto now = stage.now();
        std::vector<Step> steps;
        for (auto left = 1 + stage.random.below(3); left > 0; --left) {
            const std::string topic = topics[stage.random.below(topics.size())];
            const Event event{
                .topic = topic,
                .type = EventType::update,
                .url = "https://world.example/" + topic + "/" + std::to_string(++last_event)};
            steps.emplace_back(PublishEvent{.topic = topic,
                                            .publisher = {},
                                            .message = encode_message(event, now),
                                            .timestamp = now - stage.up_to(Duration{100}),
                                            .uid = drawn_uid()});
        }
        stage.note("publish " + std::to_string(steps.size()) + " events up to " +
                   std::to_string(last_event));
        client.submit(steps, now, [](std::span<Outcome>) {});
    }

    void let_push(Link& client) {
        stage.after(stage.up_to(2 * pace), [this, &client] {
            if (healing) return;
            push(client);
            let_push(client);
        });
    }

    void push(Link& client) {
        const auto number = stage.random.below(options.jobs);
        const auto now = stage.now();
        const auto run_at =
            now + (stage.random.below(2) == 0 ? Duration{0} : stage.up_to(Duration{2'000}));
        stage.note("push job " + std::to_string(number));
        const Job job{"work", {static_cast<std::int64_t>(number)}};
        Step step = PushJob{job_queue, encode_job(job), run_at};
        client.submit({&step, 1}, now, [](std::span<Outcome>) {});
    }

    Uid drawn_uid() {
        const auto high = stage.random.next();
        return {high, stage.random.next()};
    }

    // --- Workers --------------------------------------------------------------------------------

    void spawn(std::size_t slot) {
        auto& [kind, process, number] = slots[slot];
        if (process || !store.up()) return;
        number = ++last_process;
        const auto name = kind + "-" + std::to_string(number);
        const auto die = [this, slot, own = number] {
            stage.after(Duration{0}, [this, slot, own] {
                if (slots[slot].number == own) kill(slot);
            });
        };
        if (kind == "courier") {
            process = std::make_unique<Courier>(stage, store, subscribers, name, backoff_max, die);
        } else if (kind == "labourer") {
            process = std::make_unique<Labourer>(stage, store, subscribers, name, die);
        } else {
            process = std::make_unique<Warden>(stage, store, 2'000 + stage.random.below(6'000),
                                               [this] { ++drops_logged; });
        }
        stage.note(name + " begins as " + std::string{process->worker().text()});
    }

    void kill(std::size_t slot) {
        auto& process = slots[slot].process;
        if (!process) return;
        stage.note(process->name() + " is killed");
        ledger.killed(process->worker());
        warden_died = warden_died || slots[slot].kind == "warden";
        process.reset();
        stage.after(stage.up_to(absence_max), [this, slot] { spawn(slot); });
    }

    /// Any slot with a process in it.
    std::optional<std::size_t> any_process() {
        const auto slot = stage.random.below(slots.size());
        return slots[slot].process ? std::optional<std::size_t>{slot} : std::nullopt;
    }

    void replace_closed() {
        for (auto& slot : slots) {
            if (!slot.process || !slot.process->closing() || !slot.process->closed()) continue;
            ledger.killed(slot.process->worker());
            slot.process.reset();
            spawn(static_cast<std::size_t>(&slot - slots.data()));
        }
    }

    // --- Mishaps --------------------------------------------------------------------------------

    void crash() {
        if (!store.up()) return;
        warden_died = true;
        if (store.idle()) before_crash = {stage.now(), auditor.inventory(stage.now())};
        for (auto& slot : slots) slot.process.reset();
        store.crash();
        stage.after(stage.up_to(absence_max), [this] { restart(); });
    }

    void restart() {
        if (store.up()) return;
        store.start();
        ledger.read_again();
        if (before_crash && !auditor.unchanged(before_crash->second, before_crash->first)) {
            stage.fail("the store is not what it was before the crash");
        }
        before_crash.reset();
        auditor.recount();
        for (std::size_t i = 0; i < slots.size(); ++i) spawn(i);
    }

    void disturb() {
        const auto& mishaps = stage.mishaps;
        if (stage.happens(mishaps.crashes)) crash();
        if (stage.happens(mishaps.kills)) {
            if (const auto slot = any_process()) kill(*slot);
        }
        if (stage.happens(mishaps.stalls)) {
            if (const auto slot = any_process()) {
                slots[*slot].process->stall(stage.up_to(stall_max));
            }
        }
        if (stage.happens(mishaps.retirements)) {
            const auto slot = any_process();
            if (slot && !slots[*slot].process->closing()) {
                slots[*slot].process->close(stage.up_to(Duration{1'000}));
            }
        }
        if (stage.happens(mishaps.churn) && store.up()) churn();
        if (stage.happens(mishaps.clock_sets)) {
            stage.set_clock(stage.up_to(2 * clock_set_max) - clock_set_max);
        }
        if (stage.happens(mishaps.bad_input) && store.idle()) auditor.send_bad_input();
        if (stage.happens(mishaps.operators) && store.idle()) look_after_the_dead();
    }

    void look_after_the_dead() {
        std::vector<Step> steps;
        for (const auto& token : auditor.known()) {
            const auto dead = auditor.dead(token);
            if (dead.empty()) continue;
            std::optional<Uid> one;
            if (stage.random.below(2) == 0) one = dead[stage.random.below(dead.size())].uid;
            const bool dropped = stage.random.below(4) == 0;
            stage.note((dropped ? "DEAD batches are dropped: " : "DEAD batches are redelivered: ") +
                       (one ? std::string{one->text()} : "all of " + token));
            dropped ? steps.emplace_back(DropDeadBatches{token, one})
                    : steps.emplace_back(RedeliverDeadBatches{token, one});
        }
        if (!steps.empty()) store.submit(steps, stage.now(), [](std::span<Outcome>) {});
    }

    /// Whether there were DEAD batches, which are all under way again.
    bool redeliver_all() {
        std::vector<Step> steps;
        for (const auto& token : auditor.known()) {
            if (!auditor.dead(token).empty()) steps.emplace_back(RedeliverDeadBatches{token});
        }
        if (steps.empty()) return false;
        store.submit(steps, stage.now(), [](std::span<Outcome>) {});
        return true;
    }

    void churn() {
        const auto topic = topics[stage.random.below(topics.size())];
        Step step = [&]() -> Step {
            switch (stage.random.below(4)) {
                case 0: return RemoveSubscriber{fickle};
                case 1: return Unsubscribe{fickle, topic};
                default: {
                    auto wish = subscription(fickle, {topic}, {.attempts_max = 2});
                    // Always the same, so that no batch is more than full.
                    wish.options.max_events = 5;
                    return wish;
                }
            }
        }();
        stage.note("the fickle subscriber changes its mind");
        store.submit({&step, 1}, stage.now(), [](std::span<Outcome>) {});
    }

    // --- Life -----------------------------------------------------------------------------------

    void step() {
        stage.step();
        excuse_absences();
        ledger.check_orphans();
        replace_closed();
    }

    /// Nobody can be expected to do the work of a queue whose workers are all away.
    void excuse_absences() {
        if (!store.up() || store.failing()) stage.disturb();
        for (const char* queue : {delivery_queue, job_queue}) {
            const bool somebody = std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) {
                const auto& process = slot.process;
                return process && process->queue() == queue && !process->stalled() &&
                       !process->closing();
            });
            if (!somebody) ledger.excuse(queue);
        }
    }

    void run() {
        stage.mishaps = options.mishaps ? *options.mishaps : swarm(stage.seed());
        populate();
        for (std::uint64_t i = 0; i < options.actions; ++i) {
            step();
            disturb();
            if (stage.happens(recount_chance) && store.idle()) auditor.recount();
        }
        heal();
        drain();
        settle_accounts();
    }

    void heal() {
        stage.note("everything heals");
        healing = true;
        stage.mishaps = {};
        stage.disturb();
        store.heal_disk();
        restart();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].process) slots[i].process->go_on();
            spawn(i);
        }
    }

    void drain() {
        drain_queues();
        if (!redeliver_all()) return;
        drain_queues();
        if (redeliver_all()) stage.fail("batches died after all has healed");
    }

    void drain_queues() {
        const auto deadline = stage.moment() + drain_max;
        const auto all_told = stage.moment() + replies_late_max;
        while (stage.moment() < all_told || !store.idle() || !auditor.drained()) {
            if (stage.moment() > deadline)
                stage.fail("there is work left long after all has healed");
            do {
                step();
            } while (!store.take_committed() && stage.moment() <= deadline);
        }
    }

    void settle_accounts() {
        auditor.recount();
        const auto debts = ledger.debts(auditor.dropped());
        if (!debts.empty()) stage.fail(debts);
        if (ledger.dropped() > 0 && drops_logged == 0 && !warden_died) {
            stage.fail("events were dropped, and nothing was logged");
        }
        stage.note("all accounts are settled");
    }

    struct Slot {
        std::string kind;
        std::unique_ptr<Process> process;
        std::uint64_t number = 0;  // Of the process.
    };

    WorldOptions options;
    Stage stage;
    Ledger ledger;
    StoreProcess store;
    Auditor auditor;
    Subscribers subscribers;
    Duration backoff_max;
    Duration pace;  // Of clients: some worlds are busy, others last longer.
    std::vector<std::unique_ptr<Link>> clients;
    std::vector<Slot> slots;
    std::optional<std::pair<TimePoint, Inventory>> before_crash;
    std::uint64_t last_event = 0;
    std::uint64_t last_process = 0;
    std::uint64_t drops_logged = 0;
    bool warden_died = false;  // With a drop it might have logged.
    bool healing = false;
};

World::World(std::uint64_t seed, WorldOptions options)
    : impl_{std::make_unique<Impl>(seed, options)} {}

World::~World() = default;

std::uint64_t World::seed() const noexcept { return impl_->stage.seed(); }
const Clock& World::clock() const noexcept { return impl_->stage.clock; }
std::uint64_t World::trace_hash() const noexcept { return impl_->stage.hash(); }
std::uint64_t World::steps() const noexcept { return impl_->stage.steps(); }

void World::subscribe(const std::string& token, const std::vector<std::string>& wanted,
                      BatchHandler handler) {
    impl_->subscribers.handle_batches(token, std::move(handler));
    impl_->subscribe(token, wanted, {});
}

void World::handle(JobHandler handler) { impl_->subscribers.handle_jobs(std::move(handler)); }

void World::run() { impl_->run(); }

void World::expect(bool truth, std::string_view text) {
    if (!truth) impl_->stage.fail("expected: " + std::string{text});
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

Mishaps swarm(std::uint64_t seed) {
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
