#include "core/jobs/work/pool/pool_loop.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/jobs/work/own_profile.hpp"
#include "core/system/thread.hpp"
#include "core/work/handler_thread.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

PoolLoop::PoolLoop(Store& store, WorkerPoolOptions options, std::shared_ptr<HandlerTable> handlers)
    : options_{std::move(options)},
      clock_{options_.clock != nullptr ? *options_.clock : system_clock()},
      slots_{options_.concurrency > 0 ? options_.concurrency
                                      : std::max<std::size_t>(1, options_.threads)},
      handlers_{std::move(handlers)},
      board_{std::make_shared<JobBoard>(options_.queues.size(), slots_,
                                        options_.order == QueueOrder::strict)},
      random_{options_.seed ? *options_.seed : entropy()},
      shares_{options_.queues, options_.order},
      prefetch_{options_.threads == 0 ? 0 : options_.prefetch_max} {
    for (const auto& queue : options_.queues) {
        const auto high = random_.next();
        LeaseLoopOptions loop{.queue = queue.name,
                              .worker = {high, random_.next()},
                              .heartbeat_interval = options_.heartbeat_interval,
                              .worker_silence = options_.worker_silence,
                              .poll_interval = options_.poll_interval,
                              .wake_grace = options_.wake_grace,
                              .acquired_max = acquired_max,
                              .finds_lost = true,
                              .log = options_.log};
        queues_.push_back(std::make_unique<Queue>(store, std::move(loop), *this, queues_.size()));
    }
}

PoolLoop::~PoolLoop() {
    for (const auto& queue : queues_) {
        for (const auto& [id, attempt] : queue->attempts) give_up(*attempt);
    }
    // Responders may outlive the loop and must not wake it any more.
    board_->wake_with({});
    join();
}

void PoolLoop::wake_with(std::function<void()> wake) {
    board_->wake_with(wake);
    for (const auto& queue : queues_) queue->loop.wake_with(wake);
}

void PoolLoop::close(TimePoint deadline) {
    closing_ = true;
    for (const auto& queue : queues_) queue->loop.close(deadline);
}

bool PoolLoop::closed() const {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const auto& queue) { return queue->loop.retired(); });
}

void PoolLoop::join() {
    board_->close();
    threads_.clear();
}

// --- Polling ------------------------------------------------------------------------------------

void PoolLoop::begin() {
    if (begun_.exchange(true)) return;
    try {
        for (std::size_t i = 0; i < options_.threads; ++i) {
            threads_.push_back(start_thread<std::jthread>([this] {
                const HandlerThread mark{this};
                while (const auto attempt = board_->next()) handlers_->run(attempt, board_);
            }));
        }
    } catch (const Failure&) {
        join();
        throw;
    }
}

TimePoint PoolLoop::poll(TimePoint now) {
    // After a long suspension of this process, other workers have probably leased the jobs that
    // were waiting for a slot here. They are released.
    const bool stood_still = begun_ && now - now_ >= options_.worker_silence;
    if (now < now_) shift_timeouts(now - now_);
    now_ = now;
    begin();
    for (const auto& queue : queues_) queue->loop.receive(now);
    board_->offer(fresh_);
    if (closing_ || stood_still) release_waiting(never);
    if (options_.threads == 0) run_inside();
    auto report = board_->take();
    for (const auto& attempt : report.begun) watch(attempt);
    for (auto& [attempt, verdict] : report.ended) end(attempt, verdict);
    prefetch_.ended(now, report.ended.size());
    time_out();
    if (over()) release_running();
    if (report.waiting > 0) release_waiting(now - waiting_max);

    auto next = send(report.waiting + report.running);
    if (report.waiting > 0) next = std::min(next, now + JobBoard::look_interval);
    if (!timeouts_.empty()) next = std::min(next, timeouts_.begin()->first);
    return next;
}

void PoolLoop::run_inside() {
    // Begins at most one job per slot and poll. An asynchronous handler that returns at once frees
    // its slot for the next job, and the loop must not be kept busy for ever.
    for (std::size_t i = 0; i < slots_; ++i) {
        const auto attempt = board_->next_now();
        if (attempt == nullptr) return;
        handlers_->run(attempt, board_);
    }
}

TimePoint PoolLoop::send(std::size_t taken) {
    std::vector<SlotShares::Wish> wishes;
    for (const auto& queue : queues_) {
        taken += queue->loop.asked() + queue->loop.refused();
        wishes.push_back(queue->loop.asked() > 0    ? SlotShares::Wish::waits
                         : queue->loop.wants_jobs() ? SlotShares::Wish::wants
                                                    : SlotShares::Wish::nothing);
    }
    const auto most = slots_ + prefetch_.jobs();
    const auto shares = shares_.share(wishes, most - std::min(most, taken));
    auto next = never;
    for (const auto& queue : queues_) {
        next = std::min(next, queue->loop.send(shares[queue->place]));
    }
    return next;
}

void PoolLoop::describe(Queue& queue, Heartbeat& heartbeat) const {
    if (queue.profile == nullptr) {
        auto profile =
            own_profile(options_.queues[queue.place].name, now_, options_.worker_silence);
        profile.capacity = static_cast<std::uint32_t>(slots_);
        handlers_->describe(profile);
        queue.profile = std::make_shared<const WorkerProfile>(std::move(profile));
    }
    heartbeat.profile = queue.profile;
    // The load counts the jobs of all queues of the pool, because they share the slots.
    heartbeat.busy = static_cast<std::uint32_t>(board_->running());
    for (const auto& other : queues_) {
        for (const auto& [id, attempt] : other->attempts) {
            heartbeat.busy_since = std::min(heartbeat.busy_since, attempt->acquired_at);
        }
    }
}

// --- Status -------------------------------------------------------------------------------------

WorkerPoolStatus PoolLoop::status() const {
    const auto read = [](const std::atomic<std::uint64_t>& count) {
        return count.load(std::memory_order_relaxed);
    };
    return {.running = board_->running(),
            .waiting = board_->waiting(),
            .done = read(counts_.done),
            .failed = read(counts_.failed),
            .timed_out = read(counts_.timed_out),
            .buried = read(counts_.buried),
            .released = read(counts_.released),
            .snoozed = read(counts_.snoozed),
            .lease_lost = read(counts_.lease_lost),
            .unhandled = read(counts_.unhandled)};
}

std::optional<std::string> PoolLoop::trouble() const {
    for (const auto& queue : queues_) {
        if (auto why = queue->loop.trouble()) return why;
    }
    return std::nullopt;
}

}  // namespace routemaster::detail
