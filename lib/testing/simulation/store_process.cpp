#include "store_process.hpp"

#include <array>

namespace routemaster::simulation {
namespace {

/// Draws a small slack, to have the journal compacted often. The frequency differs between worlds.
std::uint64_t small_slack(Random& random) { return std::uint64_t{256} << random.below(6); }

/// In half of all worlds, draws a memory budget so small that most data must be read from the
/// journal again.
std::uint64_t little_memory(Random& random) {
    return random.below(2) == 0 ? 0 : std::uint64_t{100} << random.below(7);
}

constexpr Duration sync_max{5};
constexpr Duration slow_sync_max{6'000};
constexpr Duration probe_wait_max{200};
constexpr Duration disk_trouble_max{3'000};

}  // namespace

StoreProcess::StoreProcess(SimulationContext& context, Oracle& oracle)
    : context_{context},
      oracle_{oracle},
      journal_{Random{context.random.next()}, 1 + context.random.below(32)},
      slack_max_{small_slack(context.random)},
      memory_max_{little_memory(context.random)} {}

void StoreProcess::start() {
    ++life_;
    planned_ = false;
    unread_ = false;
    try {
        engine_ = std::make_unique<embedded::Engine>(
            journal_,
            EmbeddedStoreOptions{.slack_max = slack_max_,
                                 .memory_max = memory_max_,
                                 .log = [this](LogLevel level, std::string_view text) {
                                     context_.note("store: " + std::string{to_string(level)} +
                                                   ": " + std::string{text});
                                 }});
    } catch (const Failure& failure) {
        context_.fail(std::string{"the store cannot read the journal: "} + failure.what());
    }
    context_.note("store: started, last row is " + std::to_string(journal_.last_row()));
}

void StoreProcess::crash() {
    ++life_;
    if (row_) {
        constexpr std::array remains{SimulatedJournal::Remains::nothing,
                                     SimulatedJournal::Remains::part,
                                     SimulatedJournal::Remains::all};
        constexpr std::array words{"lost", "torn", "written"};
        const auto which = context_.random.below(remains.size());
        journal_.lose_power(row_->changes, remains[which]);
        context_.note("store: crashed while row " + std::to_string(row_->number) +
                      " was being written: " + words[which]);
    } else {
        context_.note("store: crashed");
    }
    row_.reset();
    engine_.reset();
    journal_.heal();
    oracle_.crashed();
    for (auto& [number, waiting] : std::exchange(waiting_, {})) {
        std::vector<Outcome> outcomes(
            waiting.steps, Outcome{Error{Errc::timed_out, "simulation: the store crashed"}});
        waiting.done(outcomes);
    }
}

void StoreProcess::later(Duration span, void (StoreProcess::*what)()) {
    context_.after(span, [this, what, life = life_] {
        if (life == life_) (this->*what)();
    });
}

void StoreProcess::submit(std::span<Step> steps, TimePoint now, Completion done) {
    if (!up()) {
        std::vector<Outcome> outcomes(
            steps.size(), Outcome{Error{Errc::unavailable, "simulation: the store is down"}});
        return done(outcomes);
    }
    const auto number = oracle_.submitted(steps, now, engine_->failing());
    waiting_.emplace(number, Waiting{std::move(done), steps.size()});
    embedded::PendingReply reply{
        [this, number](std::span<Outcome> outcomes) { replied(number, outcomes); },
        detail::Outcomes{steps.size()}};
    const bool at_once = engine_->submit(steps, now, reply);
    watchers_.wake(engine_->take_woken());
    plan_commit();
    if (at_once) reply.send();
}

void StoreProcess::replied(std::uint64_t number, std::span<Outcome> outcomes) {
    oracle_.replied(number, outcomes);
    auto waiting = waiting_.extract(number);
    waiting.mapped().done(outcomes);
}

Watch StoreProcess::watch(const std::string& queue, std::function<void()> wake) {
    return watchers_.add(queue, std::move(wake));
}

Outcome StoreProcess::ask_any(Step step, TimePoint now) {
    std::optional<Outcome> got;
    submit({&step, 1}, now,
           [&](std::span<Outcome> outcomes) { got = std::move(outcomes.front()); });
    if (!got) context_.fail("the store must reply at once to a step that writes nothing");
    return *std::move(got);
}

Duration StoreProcess::sync_time() {
    if (!context_.happens(context_.fault_rates.slow_syncs)) return context_.up_to(sync_max);
    const auto span = context_.up_to(slow_sync_max);
    context_.disturb(span);
    context_.note("disk: slow, the next sync takes " + std::to_string(span.count()) + " ms");
    return span;
}

void StoreProcess::plan_commit() {
    if (planned_ || row_ || failing() || !engine_->has_work()) return;
    planned_ = true;
    later(context_.up_to(Duration{1}), &StoreProcess::begin_commit);
}

void StoreProcess::begin_commit() {
    planned_ = false;
    if (row_ || failing() || !engine_->has_work()) return;
    row_ = engine_->close_row();
    disturb_disk();
    later(sync_time(), &StoreProcess::end_commit);
}

void StoreProcess::disturb_disk() {
    const auto& fault_rates = context_.fault_rates;
    const bool breaks = context_.happens(fault_rates.broken_reads);
    const bool fills = breaks || context_.happens(fault_rates.full_disks);
    if (!fills && !context_.happens(fault_rates.disk_errors)) return;
    journal_.fail(fills && !breaks ? "no space left" : "input/output error", fills);
    if (breaks) journal_.fail_reads();
    if (fills) later(context_.up_to(disk_trouble_max), &StoreProcess::heal_disk);
}

void StoreProcess::heal_disk() { journal_.heal(); }

void StoreProcess::end_commit() {
    if (!row_) return;
    const auto row = *std::exchange(row_, std::nullopt);
    const auto written = journal_.append(row.changes, row.needed, row.needs_compaction);
    if (written) {
        context_.note("disk: row " + std::to_string(row.number) + ", " +
                      std::to_string(row.changes.size()) + " bytes");
        committed_ = true;
    }
    auto replies = written ? engine_->committed(row) : engine_->failed(row, written.error());
    if (!written) {
        unread_ = journal_.take_failed_reads();
        oracle_.reloaded();
        plan_probe();
    }
    send(replies);
}

/// Sends replies. A power failure may occur between any two replies.
void StoreProcess::send(std::vector<embedded::PendingReply>& replies) {
    const bool crashes = context_.happens(context_.fault_rates.crashed_syncs);
    const auto last = crashes ? context_.random.below(replies.size() + 1) : replies.size();
    const auto life = life_;
    for (std::size_t i = 0; i < last && life == life_; ++i) replies[i].send();
    if (crashes && life == life_) return crash_();
    if (life == life_) plan_commit();
}

void StoreProcess::settle() {
    while (row_ || engine_->has_work()) {
        if (!row_) row_ = engine_->close_row();
        end_commit();
    }
}

void StoreProcess::plan_probe() {
    later(Duration{1} + context_.up_to(probe_wait_max), &StoreProcess::probe);
}

void StoreProcess::probe() {
    if (!failing()) return;
    if (!engine_->heal(journal_.probe())) return plan_probe();
    if (std::exchange(unread_, false)) oracle_.reloaded();
    watchers_.wake_all();
    plan_commit();
}

}  // namespace routemaster::simulation
