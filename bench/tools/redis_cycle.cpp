// Takes jobs through a whole life on Redis, for benchmarks: pushed, acquired, acknowledged.
//
//   bench_redis_cycle --url URL --count N --in-flight N
//
// As many jobs as asked are between their push and the answer to their ack at any time. Each is
// pushed by a submission of its own, when an earlier one is over, and acknowledged by one of its
// own, as soon as it is acquired. One worker acquires all there are, again and again; when it gets
// none, it waits for the next answer to a push. The queue must be empty, and is empty again at the
// end. Prints one JSON line.

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "jobs.hpp"
#include "redis_run.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/redis.hpp"

namespace {

namespace rm = routemaster;

/// Takes the jobs of the numbers 0 to `count` through their lives. But for its beginning, all of it
/// happens in completions, on the one thread of the store.
class Cycles {
public:
    Cycles(rm::Store& store, const rm::Uid& worker, std::uint32_t in_flight, std::uint64_t count)
        : store_{store}, worker_{worker}, in_flight_{in_flight}, open_{count}, over_(count) {}

    void run() {
        if (open_ == 0) return;
        // The first are pushed together: their answer is given once, on the store's thread.
        const auto now = rm::system_clock().now();
        std::vector<rm::Step> pushes;
        while (pushes.size() < in_flight_ && next_ < over_.size()) pushes.push_back(push(now));
        store_.submit(pushes, now, [this](std::span<rm::Outcome> outcomes) { pushed(outcomes); });
        finish_.wait();
    }

    [[nodiscard]] std::uint64_t acquisitions() const noexcept { return acquisitions_; }

private:
    template <class S>
    void submit(S step, void (Cycles::*done)(std::span<rm::Outcome>), rm::TimePoint now) {
        rm::Step any{std::move(step)};
        store_.submit({&any, 1}, now,
                      [this, done](std::span<rm::Outcome> outcomes) { (this->*done)(outcomes); });
    }

    rm::PushJob push(rm::TimePoint now) {
        return {bench::job_queue, bench::numbered_job(next_++), now};
    }

    void pushed(std::span<rm::Outcome> outcomes) {
        for (auto& outcome : outcomes) {
            const auto reply = rm::reply_of<rm::PushJob>(outcome);
            if (!reply) return finish_.failed(reply.error().message());
            if (*reply != rm::PushOutcome::pushed) return finish_.failed("a job was there already");
        }
        acquire();
    }

    void acquire() {
        if (std::exchange(acquiring_, true)) return;
        ++acquisitions_;
        submit(rm::AcquireJobs{bench::job_queue, worker_, in_flight_, known_}, &Cycles::acquired,
               rm::system_clock().now());
    }

    void acquired(std::span<rm::Outcome> outcomes) {
        const auto reply = rm::reply_of<rm::AcquireJobs>(outcomes.front());
        if (!reply) return finish_.failed(reply.error().message());
        acquiring_ = false;
        for (const auto& lease : reply->leases) {
            known_ = std::max(known_, lease.fence);
            const auto n = bench::number_of(lease.job);
            if (n >= over_.size() || over_[n]) return finish_.failed("a job came twice");
            over_[n] = true;
            submit(rm::AckJob{lease}, &Cycles::acked, rm::system_clock().now());
        }
        if (!reply->leases.empty()) acquire();
    }

    void acked(std::span<rm::Outcome> outcomes) {
        const auto reply = rm::reply_of<rm::AckJob>(outcomes.front());
        if (!reply) return finish_.failed(reply.error().message());
        if (*reply != rm::Settlement::settled) return finish_.failed("a lease was lost");
        if (next_ < over_.size()) {
            const auto now = rm::system_clock().now();
            submit(push(now), &Cycles::pushed, now);
        }
        if (--open_ == 0) finish_.reached();
    }

    rm::Store& store_;
    const rm::Uid worker_;
    const std::uint32_t in_flight_;
    std::uint64_t open_;      ///< Jobs that are not over.
    std::uint64_t next_ = 0;  ///< The number of the next push.
    std::uint64_t known_ = 0;
    std::uint64_t acquisitions_ = 0;
    bool acquiring_ = false;
    std::vector<bool> over_;  ///< By number: acquired, so that it must not come again.
    bench::Finish finish_;
};

void run(const bench::RedisSettings& settings) {
    rm::RedisStore store{bench::redis_options(settings)};
    const rm::Uid worker{rm::entropy(), rm::entropy()};
    Cycles{store, worker, settings.in_flight, settings.warm_up}.run();
    Cycles cycles{store, worker, settings.in_flight, settings.count};
    bench::measure(
        settings.count, [&] { cycles.run(); },
        [&] { return R"(,"acquisitions":)" + std::to_string(cycles.acquisitions()); });
    const auto now = rm::system_clock().now();
    if (perform(store, rm::CountJobs{bench::job_queue}, now).value() != rm::QueueStatus{}) {
        throw std::runtime_error{"the queue is not empty"};
    }
    static_cast<void>(perform(store, rm::RetireWorker{worker}, now).value());
}

}  // namespace

int main(int argc, char** argv) {
    bench::RedisSettings settings;
    CLI::App app{"Takes jobs through a whole life on Redis", "redis_cycle"};
    bench::declare(app, settings);
    return bench::run_main(app, argc, argv, [&settings] { run(settings); });
}
