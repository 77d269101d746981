/// @file
/// Options of workers, listeners and schedulers. Each test uses a value that differs from the
/// default.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/recurring_scheduler.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/timer_handler.hpp"
#include "routemaster/worker_pool.hpp"
#include "support/hand_leases.hpp"
#include "support/observed_scene.hpp"
#include "support/timer_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

using Names = std::vector<std::string>;

constexpr Duration a_second{1'000};

/// A store that refuses to settle any job.
class UnsettledStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        const auto ends = [](const Step& step) {
            return std::holds_alternative<AckJob>(step) || std::holds_alternative<FailJob>(step);
        };
        if (!std::any_of(steps.begin(), steps.end(), ends)) {
            return ForwardingStore::submit(steps, now, std::move(done));
        }
        std::vector<Outcome> outcomes(steps.size(), Outcome{Error{Errc::invalid, "no"}});
        done(outcomes);
    }
};

/// Two clients of a queue. The first asks once, or leases a job for a while; the second asks every
/// second. The store sees the handlers that the leases report.
struct TwoClients {
    explicit TwoClients(Names first_handlers) : handlers{std::move(first_handlers)} {}

    void ask(Duration wait = Duration{0}) {
        leases.lease({.queue = "work",
                      .worker = "first",
                      .wait = wait,
                      .lease_time = lease_time_max,
                      .handlers = handlers},
                     [this](const Result<std::vector<LeasedJob>>& jobs) {
                         if (jobs && !jobs->empty()) job = jobs->front();
                     });
        scene.run(leases, Duration{0});
    }

    void lease_a_job() {
        JobQueue{scene.memory, "work", scene.clock}.push(Job{"resize"}).value();
        ask();
        REQUIRE(job.lease.id != 0);
    }

    void settle() {
        leases.settle({"work", job.lease.id, job.lease.worker, job.lease.fence}, {},
                      [](const auto& settled) { CHECK(settled.value() == Settlement::settled); });
    }

    void go_on_for(int seconds) {
        for (int second = 0; second < seconds; ++second) {
            leases.lease({.queue = "work", .worker = "second", .handlers = {"scale"}},
                         [](const auto&) {});
            scene.run(leases, a_second);
        }
    }

    [[nodiscard]] const WorkerProfile& profile() const { return scene.store.profile.value(); }
    /// Whether the first client is still among the clients of the profile.
    [[nodiscard]] bool counts_first() const {
        return handlers.empty() ? profile().others == WorkerProfile::Others::unknown
                                : profile().handlers.size() == 2;
    }

    ObservedScene scene;
    const Names handlers;
    JobLeases leases{scene.store, {.idle_max = Duration{3'000}, .seed = 1}};
    LeasedJob job{};
};

}  // namespace

TEST_CASE("job leases refuse the invalid durations that pools refuse") {
    MemoryStore store;
    const auto refuses = [&](JobLeasesOptions options) {
        try {
            const JobLeases leases{store, std::move(options)};
            return false;
        } catch (const Failure& failure) {
            return failure.error().code() == Errc::invalid;
        }
    };
    CHECK(!refuses({}));
    CHECK(refuses({.heartbeat_interval = Duration{0}}));
    CHECK(refuses({.worker_silence = Duration{1'000}}));
    CHECK(refuses({.poll_interval = Duration{0}}));
    CHECK(refuses({.wake_grace = Duration{-1}}));
}

TEST_CASE("option effects: only a stall of worker_silence prolongs leases") {
    JobScene scene;
    HandLeases hand{scene, {.worker_silence = Duration{9'000}}};
    scene.push("a");
    only_job(hand.lease({.lease_time = Duration{2'000}}));
    scene.clock.advance(Duration{5'000});
    hand.run();
    CHECK(scene.queue() == QueueStatus{.ready = 1});
}

TEST_CASE("option effects: without requests, leases search for dead workers as the options say") {
    ObservedScene scene;
    JobLeases leases{scene.store,
                     {.heartbeat_interval = Duration{2'500}, .worker_silence = Duration{9'000}}};
    scene.run(leases, Duration{10'000});
    CHECK(scene.store.silences == std::set{Duration{9'000}});
    CHECK(scene.store.scrubs >= 3);
    CHECK(scene.store.scrubs <= 4);
}

TEST_CASE("option effects: a client counts as a worker until idle_max after its request") {
    for (const auto& handlers : {Names{"resize"}, Names{}}) {
        TwoClients clients{handlers};
        clients.ask();
        clients.go_on_for(2);
        CHECK(clients.counts_first());
        clients.go_on_for(4);
        CHECK(!clients.counts_first());
        CHECK(clients.profile().handlers == Names{"scale"});
    }
}

TEST_CASE("option effects: a client counts as a worker until idle_max after the end of its lease") {
    for (const auto& handlers : {Names{"resize"}, Names{}}) {
        TwoClients clients{handlers};
        clients.lease_a_job();
        clients.go_on_for(6);
        CHECK(clients.counts_first());
        clients.settle();
        clients.go_on_for(6);
        CHECK(!clients.counts_first());
    }
}

TEST_CASE(
    "option effects: a client counts until idle_max after its wait, even if the clock is set "
    "back") {
    for (const auto& handlers : {Names{"resize"}, Names{}}) {
        TwoClients clients{handlers};
        clients.ask(lease_wait_max);
        clients.scene.clock.advance(Duration{-3'600'000});
        clients.go_on_for(30);
        CHECK(clients.counts_first());
        clients.go_on_for(6);
        CHECK(!clients.counts_first());
    }
}

TEST_CASE("option effects: no more than waiting_max lease extensions wait for the store") {
    JobScene scene;
    HandLeases hand{scene, {.waiting_max = 1}};
    scene.push("a");
    scene.push("b");
    const auto first = only_job(hand.lease({.lease_time = Duration{60'000}}));
    const auto second = only_job(hand.lease({.lease_time = Duration{60'000}}));
    scene.clock.advance(Duration{10'000});
    scene.store.delay<AcquireJobs>();
    const auto waiting = hand.ask_to_extend(first);
    const auto refused = hand.ask_to_extend(second);
    CHECK(!waiting->has_value());
    REQUIRE(refused->has_value());
    CHECK(refused->value().error().code() == Errc::unavailable);
    scene.store.release();
    hand.run();
    REQUIRE(waiting->has_value());
    CHECK(waiting->value().value());
}

TEST_CASE("option effects: a leased job that timed out waits as the retry policy says") {
    JobScene scene;
    HandLeases hand{scene, {.retry = {.wait_first = Duration{7'000}, .jitter = 0}}};
    const auto id = scene.push("a", {.timeout = a_second});
    only_job(hand.lease({.lease_time = Duration{60'000}}));
    const auto timed_out_at = scene.clock.now() + a_second;
    hand.run_for(a_second);
    CHECK(scene.job(id).run_at == timed_out_at + Duration{7'000});
}

TEST_CASE("option effects: a job that cannot be settled waits for wait_max of the retry policy") {
    JobScene scene;
    UnsettledStore store{scene.memory};
    const RetryPolicy retry{.wait_max = Duration{7'000}};
    const auto id = scene.push("a", {.timeout = a_second});
    const auto begin = scene.clock.now();
    SUBCASE("the job is run by a pool") {
        WorkerPool pool{store, scene.complete({.retry = retry})};
        pool.handle("a", [](JobContext&) {});
        HandRunner{pool}.run(begin);
        CHECK(scene.job(id).run_at == begin + Duration{7'000});
    }
    SUBCASE("the job is leased to an HTTP worker") {
        JobLeases leases{store, {.retry = retry, .seed = 1}};
        HandRunner runner{leases};
        leases.lease({.queue = "work", .lease_time = lease_time_max}, [](const auto&) {});
        runner.run(begin);
        scene.clock.advance(a_second);
        runner.run(scene.clock.now());
        CHECK(scene.job(id).run_at == begin + a_second + Duration{7'000});
    }
}

TEST_CASE("option effects: a job in the delivery queue that is no delivery waits for backoff_max") {
    ObservedScene scene;
    perform(scene.memory, PushJob{delivery_queue, "no delivery", scene.clock.now()},
            scene.clock.now())
        .value();
    Dispatcher dispatcher{
        scene.store,
        {.transports = {&scene.transport}, .health = {.backoff_max = Duration{7'000}}, .seed = 1}};
    scene.run(dispatcher, Duration{6'900});
    const auto ready = [&] {
        return perform(scene.memory, CountJobs{delivery_queue}, scene.clock.now()).value();
    };
    CHECK(ready() == QueueStatus{.scheduled = 1});
    scene.clock.advance(Duration{200});
    CHECK(ready() == QueueStatus{.ready = 1});
}

TEST_CASE("option effects: objects with equal seeds have one worker id, and others differ") {
    const auto workers = [](auto make) {
        ObservedScene scene;
        auto active = make(scene);
        scene.run(*active, a_second);
        REQUIRE(scene.store.workers.size() == 1);
        return *scene.store.workers.begin();
    };
    const auto check = [&](auto make) {
        const auto worker = [&](std::uint64_t seed) {
            return workers([&](ObservedScene& scene) { return make(scene, seed); });
        };
        CHECK(worker(7) == worker(7));
        CHECK(worker(7) != worker(8));
    };
    SUBCASE("the objects are pools") {
        check([](ObservedScene& scene, std::uint64_t seed) {
            return std::make_unique<WorkerPool>(
                scene.store, WorkerPoolOptions{.queues = {{"work"}}, .threads = 0, .seed = seed});
        });
    }
    SUBCASE("the objects are leases for HTTP workers") {
        check([](ObservedScene& scene, std::uint64_t seed) {
            auto leases = std::make_unique<JobLeases>(scene.store, JobLeasesOptions{.seed = seed});
            leases->lease({.queue = "work", .wait = lease_wait_max}, [](const auto&) {});
            return leases;
        });
    }
    SUBCASE("the objects are dispatchers") {
        check([](ObservedScene& scene, std::uint64_t seed) {
            return std::make_unique<Dispatcher>(
                scene.store, DispatcherOptions{.transports = {&scene.transport}, .seed = seed});
        });
    }
    SUBCASE("the objects are schedulers of recurring jobs") {
        check([](ObservedScene& scene, std::uint64_t seed) {
            return std::make_unique<RecurringScheduler>(scene.store,
                                                        RecurringSchedulerOptions{.seed = seed});
        });
    }
}

TEST_CASE("option effects: a scheduler polls and sends heartbeats at its poll_interval") {
    ObservedScene scene;
    RecurringScheduler scheduler{scene.store, {.poll_interval = Duration{2'000}}};
    scene.run(scheduler, Duration{10'000});
    CHECK(scene.store.asked >= 5);
    CHECK(scene.store.asked <= 6);
    CHECK(scene.store.heartbeats >= 5);
    CHECK(scene.store.heartbeats <= 6);
    CHECK(scene.store.own_silences == std::set{Duration{6'000}});
    // With a wake-up every half second, the scheduler polls more often, but sends no more
    // heartbeats.
    for (int i = 0; i < 20; ++i) {
        scene.store.wake();
        scene.run(scheduler, Duration{500});
    }
    CHECK(scene.store.asked > 20);
    CHECK(scene.store.heartbeats <= 12);
}

TEST_CASE("option effects: a timer handler's follow-up events are published as the options say") {
    TimerScene scene;
    Bus shop{scene.memory, {.publisher = "shop", .clock = &scene.clock}};
    Event event{.topic = "orders", .type = EventType::update, .url = "https://shop.example/1"};
    shop.publish(event).value();
    TimerListenerOptions options{.publications = {.publisher = "shop", .event_data_max = 10}};
    const auto publish = [&](TimerContext& timer) {
        auto large = event;
        large.data = Value{Value::Map{{"text", std::string(20, 'x')}}};
        CHECK(timer.publish(large).error().code() == Errc::invalid);
        CHECK(timer.publish(event));
    };
    scene.post("a", Duration{0}, {.retries_max = 1});
    SUBCASE("the handler returns when the timer is done") {
        HandListener listener{scene, options, publish};
        listener.run();
        CHECK(listener.listener.status().handled == 1);
    }
    SUBCASE("the handler confirms the timer itself") {
        const AsyncTimerHandler handler = [&](const TimerResponder& timer) {
            publish(timer.timer());
            timer.confirm();
        };
        routemaster::TimerListener listener{scene.store, "calls", handler, scene.complete(options)};
        HandRunner runner{listener};
        runner.run(scene.clock.now());
        CHECK(listener.status().handled == 1);
    }
    CHECK(scene.counts().fired == 0);
}

TEST_CASE("option effects: a push is repeated for as long as its idempotency key is kept") {
    JobScene scene;
    const PushOptions options{
        .unique = Unique::off(), .idempotency_key = "k", .idempotency_time = Duration{5'000}};
    const auto first = scene.jobs.push(Job{"a"}, options).value();
    scene.clock.advance(Duration{4'900});
    CHECK(scene.jobs.push(Job{"a"}, options).value().id == first.id);
    scene.clock.advance(Duration{200});
    CHECK(scene.jobs.push(Job{"a"}, options).value().id != first.id);
}
