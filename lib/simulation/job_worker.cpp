#include "job_worker.hpp"

#include <algorithm>

namespace routemaster::simulation {
namespace {

constexpr std::uint32_t held_max = 64;
constexpr Duration poll_interval{500};
constexpr Duration refusal_wait{100};
constexpr Duration retry_wait_max{2'000};
constexpr Duration heartbeat_interval{1'000};
constexpr Duration worker_silence{3'500};

Uid drawn_uid(Random& random) {
    const auto high = random.next();
    return {high, random.next()};
}

}  // namespace

JobWorker::JobWorker(SimulationContext& context, Store& store, Subscribers& subscribers,
                     std::string name, std::function<void()> die)
    : Process{context, std::move(name), job_queue, drawn_uid(context.random)},
      context_{context},
      subscribers_{subscribers},
      die_{std::move(die)},
      link_{context, store},
      watch_{store.watch(job_queue, [this] {
          next_acquire_ = context_.now();
          again();
      })} {
    run(*this);
}

TimePoint JobWorker::poll(TimePoint now) {
    if (now < last_poll_) {  // The clock was set back.
        next_acquire_ = std::min(next_acquire_, now);
        next_heartbeat_ = now;
    }
    last_poll_ = now;
    if (close_at_ != never) {
        if (!retiring_ && (held_.empty() || now >= close_at_)) retire(now);
        if (retiring_) return never;
    } else if (!acquiring_ && now >= next_acquire_ && held_.size() < held_max) {
        acquire(now);
    }
    if (now >= next_heartbeat_) {
        next_heartbeat_ = now + heartbeat_interval;
        Step steps[] = {Heartbeat{worker()}, ScrubWorkers{worker_silence}};
        link_.submit(steps, now, [](std::span<Outcome>) {});
    }
    auto next = std::min(next_heartbeat_, close_at_);
    if (!acquiring_ && close_at_ == never) next = std::min(next, std::max(next_acquire_, now));
    return next;
}

void JobWorker::again() {
    if (wake_) wake_();
}

void JobWorker::later(Duration span, std::function<void()> what) {
    context_.after(span, [this, alive = std::weak_ptr{alive_}, what = std::move(what)] {
        if (alive.expired()) return;
        if (stalled()) return later(Duration{1'000}, what);
        what();
    });
}

void JobWorker::acquire(TimePoint now) {
    acquiring_ = true;
    next_acquire_ = never;
    const auto limit = static_cast<std::uint32_t>(held_max - held_.size());
    submit(link_, AcquireJobs{job_queue, worker(), limit, newest_fence_}, now,
           [this](const Result<Acquired>& reply) {
               acquiring_ = false;
               if (reply) {
                   acquired(*reply, context_.now());
               } else {
                   next_acquire_ = context_.now() + refusal_wait;
               }
               again();
           });
}

void JobWorker::acquired(const Acquired& acquired, TimePoint now) {
    next_acquire_ = std::min({next_acquire_, acquired.next_due, now + poll_interval});
    for (const auto& lease : acquired.leases) {
        newest_fence_ = std::max(newest_fence_, lease.fence);
        if (held_.emplace(lease.fence, lease).second) begin(lease);
    }
}

void JobWorker::begin(const Lease& lease) {
    const auto attempt = subscribers_.attempt();
    later(attempt.takes, [this, lease, attempt] { end(lease, attempt); });
}

void JobWorker::end(const Lease& lease, const Attempt& attempt) {
    if (attempt.refused) return settle(lease, false);
    const bool done = subscribers_.run(lease.job).has_value();
    context_.note(name() + " did a job (fence " + std::to_string(lease.fence) + ")" +
                  (attempt.fatal ? ", and dies"
                   : done        ? ""
                                 : ", which failed"));
    if (attempt.fatal) return die_();
    settle(lease, done && !attempt.receipt_lost);
}

void JobWorker::settle(const Lease& lease, bool done) {
    if (done) return settle(lease, done, AckJob{lease});
    settle(lease, done, NackJob{lease, context_.now() + context_.up_to(retry_wait_max)});
}

template <class S>
void JobWorker::settle(const Lease& lease, bool done, S step) {
    submit(link_, std::move(step), context_.now(), [this, lease, done](Result<Settlement> outcome) {
        if (!outcome) return later(refusal_wait, [this, lease, done] { settle(lease, done); });
        held_.erase(lease.fence);
        again();
    });
}

void JobWorker::retire(TimePoint now) {
    retiring_ = true;
    submit(link_, RetireWorker{worker()}, now, [this](const Result<Count>&) {
        retired_ = true;
        again();
    });
}

}  // namespace routemaster::simulation
