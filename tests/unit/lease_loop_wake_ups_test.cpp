// The acquisitions of a worker, and missed wake-ups.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/store/perform.hpp"
#include "support/lease_scene.hpp"
#include "support/sleepy_store.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

using Jobs = std::vector<std::string>;
constexpr Duration one_hour{3'600'000};

/// A store whose wake-ups come when the test calls for them.
class LateStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    [[nodiscard]] Watch watch(const std::string&, std::function<void()> wake) override {
        wake_ = std::move(wake);
        return {};
    }
    void wake() const { wake_(); }

    /// From now on the replies to acquisitions are kept.
    void keep_answers() { keeps_ = true; }
    void answer() {
        for (auto& one : std::exchange(kept_, {})) one();
    }
    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        const bool asks = std::any_of(steps.begin(), steps.end(), [](const Step& step) {
            return std::holds_alternative<AcquireJobs>(step);
        });
        if (!keeps_ || !asks) return ForwardingStore::submit(steps, now, std::move(done));
        const auto kept = std::make_shared<Completion>(std::move(done));
        ForwardingStore::submit(steps, now, [this, kept](std::span<Outcome> outcomes) {
            const auto all = std::make_shared<std::vector<Outcome>>(
                std::make_move_iterator(outcomes.begin()), std::make_move_iterator(outcomes.end()));
            kept_.emplace_back([kept, all] { (*kept)(*all); });
        });
    }

private:
    std::function<void()> wake_;
    bool keeps_ = false;
    std::vector<std::function<void()>> kept_;
};

}  // namespace

TEST_CASE("a woken worker acquires its job without delay") {
    LeaseScene scene{10,
                     {.heartbeat_interval = one_hour,
                      .worker_silence = 2 * one_hour,
                      .poll_interval = one_hour}};
    scene.run_for(Duration{1'234});
    scene.push("resize");
    scene.run();
    CHECK(scene.jobs() == Jobs{"resize"});
}

TEST_CASE("a worker takes a scheduled job at its due time") {
    LeaseScene scene{10,
                     {.heartbeat_interval = one_hour,
                      .worker_silence = 2 * one_hour,
                      .poll_interval = one_hour}};
    perform(scene.store, PushJob{"images", "resize", scene.now + Duration{777}}, scene.now).value();
    scene.run_for(Duration{776});
    CHECK(scene.jobs().empty());
    scene.run_for(Duration{1});
    CHECK(scene.jobs() == Jobs{"resize"});
}

TEST_CASE("a job whose wake-up was lost is found at the next poll interval") {
    LeaseScene scene;
    SleepyStore sleepy{scene.store};
    LoopWorker worker{sleepy, scene.now, scene.complete({.poll_interval = Duration{400}}), 1};
    worker.run();
    scene.push("resize");
    scene.now += Duration{399};
    worker.run();
    CHECK(worker.notes.jobs().empty());
    scene.now += Duration{1};
    worker.run();
    CHECK(worker.notes.jobs() == Jobs{"resize"});
}

TEST_CASE("a job whose wake-up was lost is run, counted, and logged with the cause of its wait") {
    LeaseScene scene;
    SleepyStore sleepy{scene.store};
    LoopWorker worker{sleepy, scene.now, scene.complete({}), 2};
    const auto run_for = [&](Duration span) {
        scene.now += span;
        worker.run();
    };
    const auto missed = [&] {
        for (const auto& [key, value] : perform(scene.store, ListCounters{}, scene.now).value()) {
            if (key == CounterKey{"wakeups.missed", {{"queue", "images"}}}) return value;
        }
        return std::int64_t{0};
    };
    worker.run();
    run_for(Duration{500});
    scene.push_many(3);
    run_for(Duration{500});
    CHECK(worker.notes.jobs() == Jobs{"job-1", "job-2"});
    // A wake-up may still be on its way.
    run_for(Duration{99});
    CHECK(missed() == 0);
    run_for(Duration{1});
    CHECK(missed() == 2);
    CHECK(scene.log.count(
              LogLevel::warning,
              "queue 'images' had 2 READY jobs and an idle worker, but the worker was not woken; "
              "job 1: it is READY for attempt 1 of 25, as are 2 other jobs of its queue") == 1);

    // A worker without a free slot gets no wake-ups.
    run_for(Duration{3'000});
    worker.loop.settle(1, AckJob{worker.loop.lease(1)});
    worker.wake();
    run_for(Duration{200});
    CHECK(worker.notes.jobs() == Jobs{"job-1", "job-2", "job-3"});
    CHECK(missed() == 2);
}

TEST_CASE("a wake-up shortly after another job was found is not missed") {
    LeaseScene scene;
    LateStore late{scene.store};
    LoopWorker worker{late, scene.now, scene.complete({}), 10};
    worker.run();
    scene.push("resize");
    scene.now += Duration{1'000};
    worker.run();
    CHECK(worker.notes.jobs() == Jobs{"resize"});
    scene.now += Duration{50};
    late.wake();
    worker.wake();
    worker.run();
    scene.now += Duration{500};
    worker.run();
    CHECK(scene.log.count(LogLevel::warning, "the worker was not woken") == 0);
}

TEST_CASE("a wake-up between an acquisition and its reply is not missed") {
    LeaseScene scene;
    LateStore late{scene.store};
    LoopWorker worker{late, scene.now, scene.complete({}), 10};
    worker.run();
    scene.push("resize");
    scene.now += Duration{1'000};
    late.keep_answers();
    worker.run();
    late.wake();
    worker.wake();
    worker.run();
    late.answer();
    worker.run();
    CHECK(worker.notes.jobs() == Jobs{"resize"});
    scene.now += Duration{500};
    worker.run();
    CHECK(scene.log.count(LogLevel::warning, "the worker was not woken") == 0);
}

TEST_CASE("a job that was due later, or that has waited for a token, is no missed wake-up") {
    LeaseScene scene;
    scene.run();
    perform(scene.store, PushJob{"images", "later", scene.now + Duration{2'500}}, scene.now)
        .value();
    scene.run_for(Duration{3'000});
    scene.push("now");
    scene.run_for(Duration{3'000});
    perform(scene.store, LimitQueue{"images", {.queue = RateLimit{.per = Duration{5'000}}}},
            scene.now)
        .value();
    scene.push_many(2);
    scene.run_for(Duration{10'000});
    CHECK(scene.jobs() == Jobs{"later", "now", "job-1", "job-2"});
    CHECK(scene.log.count(LogLevel::warning, "the worker was not woken") == 0);
}

TEST_CASE("workers of a queue without a rate-limit token sleep until the next token") {
    LeaseScene scene{10,
                     {.heartbeat_interval = one_hour,
                      .worker_silence = 2 * one_hour,
                      .poll_interval = one_hour}};
    perform(scene.store, LimitQueue{"images", {.queue = RateLimit{.per = Duration{1'000}}}},
            scene.now)
        .value();
    scene.push_many(5);
    scene.run_for(Duration{10'000});
    CHECK(scene.jobs().size() == 5);
    // One acquisition per job.
    CHECK(scene.waits<AcquireJobs>() == std::vector<std::int64_t>{1'000, 1'000, 1'000, 1'000});
}
