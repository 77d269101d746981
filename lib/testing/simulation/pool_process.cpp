#include "pool_process.hpp"

#include <string_view>
#include <utility>

#include "doomed_jobs.hpp"
#include "job_batch_accounts.hpp"
#include "job_worker.hpp"
#include "recurring_accounts.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_context.hpp"
#include "routemaster/random.hpp"

namespace routemaster::simulation {
namespace {

Uid pool_worker_of(std::uint64_t seed) {
    Random random{seed};
    const auto high = random.next();
    return {high, random.next()};
}

std::vector<PoolQueue> pool_queues(const std::vector<std::string>& further) {
    std::vector<PoolQueue> queues{job_queue, doomed_queue};
    for (const auto& queue : further) queues.emplace_back(queue);
    return queues;
}

constexpr Duration wait_of_failed_max{2'000};

WorkerPoolOptions options_of(SimulationContext& context, const std::vector<std::string>& further,
                             std::uint64_t seed, Log log) {
    WorkerPoolOptions options;
    options.queues = pool_queues(further);
    options.threads = 0;
    options.concurrency = 64;
    options.retry = {.wait_first = Duration{100}, .wait_max = wait_of_failed_max};
    options.poll_interval = Duration{500};
    options.seed = seed;
    options.clock = &context.clock;
    options.log = std::move(log);
    return options;
}

}  // namespace

PoolProcess::PoolProcess(SimulationContext& context, Store& store, Subscribers& subscribers,
                         std::string name, const std::vector<std::string>& further,
                         std::function<void()> die)
    : PoolProcess{context, store,          subscribers,          std::move(name),
                  further, std::move(die), context.random.next()} {}

PoolProcess::PoolProcess(SimulationContext& context, Store& store, Subscribers& subscribers,
                         std::string name, const std::vector<std::string>& further,
                         std::function<void()> die, std::uint64_t seed)
    : Process{context, std::move(name), job_queue, pool_worker_of(seed)},
      context_{context},
      subscribers_{subscribers},
      die_{std::move(die)},
      link_{context, store},
      pool_{link_, options_of(context, further, seed, log())} {
    const AsyncJobHandler handler = [this](const JobResponder& responder) { begin(responder); };
    for (const char* job :
         {work_name, follow_up_name, tick_name, batched_name, success_name, end_name}) {
        pool_.handle_async(job, handler);
    }
    pool_.handle_async(doomed_name,
                       [this](const JobResponder& responder) { begin_doomed(responder); });
    run(pool_);
}

void PoolProcess::later(Duration span, std::function<void()> what) {
    context_.after(span, [this, alive = std::weak_ptr{alive_}, what = std::move(what)] {
        if (alive.expired()) return;
        if (stalled()) return later(Duration{1'000}, what);
        what();
    });
}

void PoolProcess::begin(const JobResponder& responder) {
    const auto attempt = subscribers_.attempt();
    later(attempt.takes, [this, responder, attempt] { end(responder, attempt); });
}

void PoolProcess::begin_doomed(const JobResponder& responder) {
    doomed_.push_back(responder);
    later(context_.up_to(Duration{20}), [this] {
        context_.note(name() + " is killed by a job");
        die_();
    });
}

void PoolProcess::end(const JobResponder& responder, const Attempt& attempt) {
    if (attempt.refused) return fail(responder);
    const auto& job = responder.context();
    const bool done = subscribers_.run(encode_job(job.job())).has_value();
    context_.note(name() + " ran a job (fence " + std::to_string(job.fence()) + ")" +
                  (attempt.fatal ? ", and dies"
                   : done        ? ""
                                 : ", which failed"));
    if (attempt.fatal) return die_();
    if (!done || attempt.receipt_lost) return fail(responder);
    responder.done();
}

void PoolProcess::fail(const JobResponder& responder) {
    switch (context_.random.below(3)) {
        case 0: responder.fail("failed"); break;
        case 1: responder.retry(context_.up_to(wait_of_failed_max), "failed"); break;
        default: responder.snooze(context_.up_to(wait_of_failed_max));
    }
}

}  // namespace routemaster::simulation
