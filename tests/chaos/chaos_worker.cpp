/// @file
/// A worker process of a chaos run: chaos_worker PORT FILE SEED SILENCE_MS BEAT_MS
///
/// Runs the jobs of the queue `chaos_queue` in four threads, and records its work. Some jobs take
/// longer than others, and some fail. Each job that was pushed from outside has one follow-up.
/// Prints "ready" when it works. At SIGTERM it finishes its jobs and ends.

#include <sys/prctl.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "chaos/chaos.hpp"
#include "chaos/chaos_record.hpp"
#include "routemaster/error.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/unique.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/redis_client.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

std::uint64_t number_at(const JobContext& context, std::size_t place) {
    return static_cast<std::uint64_t>(*context.arguments().at(place).get_if<std::int64_t>());
}

/// Most jobs take some milliseconds; some take longer than the silence of a dead worker.
std::chrono::milliseconds duration(Random& random) {
    if (random.below(30) == 0) return std::chrono::milliseconds{200 + random.below(2'000)};
    return std::chrono::milliseconds{random.below(12)};
}

void run(const ChaosLog& log, std::uint64_t seed, const ChaosJob& job, JobContext& context) {
    ChaosRun run{.job = job,
                 .id = context.id(),
                 .attempt = context.attempt(),
                 .fence = context.fence(),
                 .begun = chaos_now()};
    log.begin(run);
    Random random{seed ^ scatter(run.fence)};
    if (!job.is_follow_up()) {
        context
            .push(chaos_queue,
                  {chaos_follow_up,
                   {static_cast<std::int64_t>(job.number), static_cast<std::int64_t>(run.fence)}},
                  {.attempts_max = 0, .unique = Unique::off()})
            .value();
    }
    std::this_thread::sleep_for(duration(random));
    run.end = random.below(16) == 0 ? ChaosRun::End::failed : ChaosRun::End::done;
    run.ended = chaos_now();
    log.end(run);
    if (run.end == ChaosRun::End::failed) throw std::runtime_error{"by chance"};
}

/// A process that was frozen during the connect must try again.
std::unique_ptr<RedisStore> open(const RedisAddress& address) {
    while (true) {
        try {
            return std::make_unique<RedisStore>(RedisOptions{.addresses = {address}});
        } catch (const Failure& failure) {
            if (!failure.error().retryable()) throw;
        }
    }
}

void work(char** argv) {
    const RedisAddress address{"127.0.0.1", static_cast<std::uint16_t>(std::stoul(argv[1]))};
    const ChaosLog log{argv[2]};
    const auto seed = std::stoull(argv[3]);
    const auto store = open(address);
    WorkerPool pool{*store,
                    {.queues = {chaos_queue},
                     .threads = 4,
                     .prefetch_max = 64,
                     .retry = {.wait_first = Duration{20}, .wait_max = Duration{200}},
                     .heartbeat_interval = Duration{std::stoll(argv[5])},
                     .worker_silence = Duration{std::stoll(argv[4])},
                     .poll_interval = Duration{std::stoll(argv[5])}}};
    pool.handle(chaos_job, [&](JobContext& context) {
        run(log, seed, {.number = number_at(context, 0)}, context);
    });
    pool.handle(chaos_follow_up, [&](JobContext& context) {
        run(log, seed, {.number = number_at(context, 0), .parent_fence = number_at(context, 1)},
            context);
    });
    pool.start();
    std::puts("ready");
    std::fflush(stdout);

    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    const timespec pulse_interval{0, std::chrono::nanoseconds{chaos_pulse_interval}.count()};
    RedisClient other_connection{address};
    do {
        other_connection.command({"PING"});
        log.pulse({chaos_now(), pool.status().lease_lost});
    } while (sigtimedwait(&ends, nullptr, &pulse_interval) < 0);
    pool.stop(Duration{10'000});
    log.pulse({chaos_now(), pool.status().lease_lost});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::fputs("usage: chaos_worker PORT FILE SEED SILENCE_MS BEAT_MS\n", stderr);
        return 2;
    }
    // The worker also ends when its parent dies. Called before any thread starts, because threads
    // inherit the mask.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, nullptr);
    try {
        work(argv);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "chaos_worker: %s\n", error.what());
        return 1;
    }
}
