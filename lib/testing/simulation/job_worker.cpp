#include "job_worker.hpp"

#include <algorithm>
#include <cstddef>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster::simulation {
namespace {

constexpr std::size_t slots = 64;
constexpr Duration poll_interval{500};
constexpr Duration retry_wait_max{2'000};

/// Whether a job is a follow-up. Follow-ups have no follow-ups themselves. The work of a world
/// therefore ends.
bool is_follow_up(const std::string& job) {
    const auto decoded = decode_job(job);
    return decoded && decoded->name == follow_up_name;
}

Uid drawn_uid(Random& random) {
    const auto high = random.next();
    return {high, random.next()};
}

}  // namespace

JobWorker::JobWorker(SimulationContext& context, Store& store, Subscribers& subscribers,
                     std::string name, JobCompletion complete, std::function<void()> die)
    : Process{context, std::move(name), job_queue, drawn_uid(context.random)},
      context_{context},
      subscribers_{subscribers},
      complete_{std::move(complete)},
      die_{std::move(die)},
      link_{context, store},
      loop_{
          link_, {.queue = job_queue, .worker = worker(), .poll_interval = poll_interval}, *this} {
    run(*this);
}

TimePoint JobWorker::poll(TimePoint now) {
    loop_.receive(now);
    if (loop_.over(now)) {
        for (const auto id : std::exchange(under_way_, {})) loop_.release(id);
    }
    return loop_.send(slots - std::min(slots, loop_.leased()));
}

void JobWorker::wake_with(std::function<void()> wake) {
    wake_ = wake;
    loop_.wake_with(std::move(wake));
}

void JobWorker::later(Duration span, std::function<void()> what) {
    context_.after(span, [this, alive = std::weak_ptr{alive_}, what = std::move(what)] {
        if (alive.expired()) return;
        if (stalled()) return later(Duration{1'000}, what);
        what();
    });
}

void JobWorker::acquired(Id id, const Lease& lease) {
    under_way_.insert(id);
    const auto attempt = subscribers_.attempt();
    later(attempt.takes, [this, id, lease, attempt] { end(id, lease, attempt); });
}

void JobWorker::end(Id id, const Lease& lease, const Attempt& attempt) {
    if (attempt.refused) return settle(id, false);
    const bool done = subscribers_.run(lease.job).has_value();
    context_.note(name() + " ran a job (fence " + std::to_string(lease.fence) + ")" +
                  (attempt.fatal ? ", and dies"
                   : done        ? ""
                                 : ", which failed"));
    if (attempt.fatal) return die_();
    settle(id, done && !attempt.receipt_lost);
}

void JobWorker::settle(Id id, bool done) {
    if (under_way_.erase(id) == 0) return;  // The loop had been closed and had released the job.
    if (done) {
        const auto& lease = loop_.lease(id);
        const bool ends_alone = is_follow_up(lease.job) || context_.random.below(2) == 0;
        ends_alone ? loop_.settle(id, AckJob{lease}) : loop_.settle(id, complete_(lease));
    } else {
        const auto again = context_.now() + context_.up_to(retry_wait_max);
        const auto& lease = loop_.lease(id);
        switch (lease.fence % 3) {
            case 0: loop_.settle(id, NackJob{lease, again}); break;
            case 1: loop_.settle(id, ReleaseJob{lease, again}); break;
            default: loop_.settle(id, FailJob{.lease = lease, .error = "failed", .run_at = again});
        }
    }
    wake_();
}

void JobWorker::settled(Id id, Settlement settlement) {
    if (settlement == Settlement::lease_lost && loop_.refusals(id) == 0) {
        context_.note(name() + " settled a lease that it had lost");
    }
}

void JobWorker::unfit(Id, const Error& error) {
    context_.fail("the store refused to settle a job: " + error.message());
}

}  // namespace routemaster::simulation
