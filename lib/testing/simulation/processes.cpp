#include "processes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "delivery_worker.hpp"
#include "eviction_process.hpp"
#include "job_batch_accounts.hpp"
#include "pool_process.hpp"
#include "recurring_accounts.hpp"
#include "scheduler_process.hpp"
#include "timer_accounts.hpp"
#include "timer_process.hpp"

namespace routemaster::simulation {
namespace {

constexpr Duration stall_max{12'000};

}  // namespace

Processes::Processes(SimulationContext& context, StoreProcess& store, Oracle& oracle,
                     Subscribers& subscribers, const testing::WorldOptions& options)
    : context_{context},
      store_{store},
      oracle_{oracle},
      subscribers_{subscribers},
      options_{options},
      backoff_max_{100 + context.up_to(Duration{2'000}).count()} {}

void Processes::begin(JobCompletion complete) {
    complete_ = std::move(complete);
    const auto add_some = [this](const char* kind) {
        for (auto left = 1 + context_.random.below(3); left > 0; --left) {
            slots_.push_back({kind, {}});
        }
    };
    add_some("delivery_worker");
    if (options_.jobs > 0) {
        for (auto left = 1 + context_.random.below(3); left > 0; --left) {
            // The last slot must be a pool, because only pools run all kinds of jobs.
            const bool pool = options_.pools && (left == 1 || context_.random.below(2) == 0);
            slots_.push_back({pool ? "pool" : "job_worker", {}});
        }
    }
    if (options_.timers > 0) add_some("listener");
    if (options_.recurring > 0 || options_.job_batches) add_some("pool");
    if (options_.recurring > 0) add_some("scheduler");
    if (context_.fault_rates.drops) slots_.push_back({"eviction_process", {}});
    spawn_all();
}

void Processes::spawn_all() {
    for (std::size_t i = 0; i < slots_.size(); ++i) spawn(i);
}

void Processes::spawn(std::size_t slot) {
    auto& [kind, process, number, free_since] = slots_[slot];
    if (process || !store_.up()) return;
    number = ++last_process_;
    free_since = context_.moment();
    const auto name = kind + "-" + std::to_string(number);
    process = started(kind, name, [this, slot, own = number] {
        context_.after(Duration{0}, [this, slot, own] {
            if (slots_[slot].number == own) kill(slot);
        });
    });
    context_.note(name + " starts as worker " + std::string{process->worker().text()});
}

std::unique_ptr<Process> Processes::started(const std::string& kind, const std::string& name,
                                            const std::function<void()>& die) {
    if (kind == "delivery_worker") {
        return std::make_unique<DeliveryWorker>(context_, store_, subscribers_, name, backoff_max_,
                                                die);
    }
    if (kind == "job_worker") {
        return std::make_unique<JobWorker>(context_, store_, subscribers_, name, complete_, die);
    }
    if (kind == "pool") {
        return std::make_unique<PoolProcess>(context_, store_, subscribers_, name, further_queues(),
                                             die);
    }
    if (kind == "scheduler") return std::make_unique<SchedulerProcess>(context_, store_, name);
    if (kind == "listener") {
        return std::make_unique<TimerProcess>(context_, store_, oracle_.timers(), subscribers_,
                                              name, die);
    }
    return std::make_unique<EvictionProcess>(context_, store_, 2'000 + context_.random.below(6'000),
                                             [this] { ++drops_logged_; });
}

std::vector<std::string> Processes::further_queues() const {
    std::vector<std::string> further;
    if (options_.recurring > 0) further.emplace_back(tick_queue);
    if (options_.job_batches) {
        further.emplace_back(batched_queue);
        further.emplace_back(callback_queue);
    }
    return further;
}

void Processes::kill(std::size_t slot) {
    auto& process = slots_[slot].process;
    if (!process) return;
    context_.note(process->name() + " is killed");
    oracle_.killed(process->worker());
    eviction_process_died_ = eviction_process_died_ || slots_[slot].kind == "eviction_process";
    process.reset();
    context_.after(context_.up_to(absence_max), [this, slot] { spawn(slot); });
}

std::optional<std::size_t> Processes::any() {
    const auto slot = context_.random.below(slots_.size());
    return slots_[slot].process ? std::optional<std::size_t>{slot} : std::nullopt;
}

void Processes::kill_one() {
    if (const auto slot = any()) kill(*slot);
}

void Processes::stall_one() {
    if (const auto slot = any()) slots_[*slot].process->stall(context_.up_to(stall_max));
}

void Processes::close_one() {
    const auto slot = any();
    if (slot && !slots_[*slot].process->closing()) {
        slots_[*slot].process->close(context_.up_to(Duration{1'000}));
    }
}

void Processes::crash() {
    eviction_process_died_ = true;
    for (auto& slot : slots_) slot.process.reset();
}

void Processes::heal() {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].process) slots_[i].process->go_on();
        spawn(i);
    }
}

void Processes::replace_closed() {
    for (auto& slot : slots_) {
        if (!slot.process || !slot.process->closing()) continue;
        if (does_jobs(slot)) check_end(*slot.process);
        if (!slot.process->closed()) continue;
        oracle_.killed(slot.process->worker());
        slot.process.reset();
        spawn(static_cast<std::size_t>(&slot - slots_.data()));
    }
}

/// Fails the simulation when a process stopped too late, or still has a lease.
void Processes::check_end(const Process& process) {
    if (process.overstays()) context_.fail(process.name() + " does not stop");
    const bool calm = context_.disturbed_until < process.closing_since();
    if (calm && process.closed()) oracle_.must_have_no_lease(process.worker());
}

void Processes::excuse_absences() {
    excuse_queues();
    note_who_is_free();
}

void Processes::excuse_queues() {
    for (const char* queue : {delivery_queue, job_queue}) {
        const bool somebody = std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
            const auto& process = slot.process;
            return process && process->queue() == queue && !process->stalled() &&
                   !process->closing();
        });
        // With rate limits, a job without a worker may also be waiting for a token.
        const bool limited = options_.rate_limits && std::string_view{queue} == job_queue;
        if (!somebody || limited) oracle_.excuse(queue);
    }
}

void Processes::note_who_is_free() {
    auto listened = context_.moment();
    auto scheduled = listened;
    auto worked = listened;
    for (auto& slot : slots_) {
        const auto& process = slot.process;
        const bool is_free =
            process && !process->stalled() && !process->closing() && !process->busy();
        if (!is_free) slot.free_since = context_.moment();
        if (slot.kind == "listener") listened = std::min(listened, slot.free_since);
        if (slot.kind == "scheduler") scheduled = std::min(scheduled, slot.free_since);
        if (does_jobs(slot)) worked = std::min(worked, slot.free_since);
    }
    oracle_.timers().listened_since(listened);
    oracle_.recurring().scheduled_since(scheduled);
    oracle_.rates().worked_since(worked);
}

}  // namespace routemaster::simulation
