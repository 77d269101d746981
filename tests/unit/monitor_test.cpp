#include "routemaster/monitor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A bus and its monitor.
struct MonitoredScene {
    explicit MonitoredScene(MonitorOptions options = {})
        : monitor{disturbed, complete(std::move(options))} {}

    MonitorOptions complete(MonitorOptions options) {
        options.report = [this](std::vector<Measurement> report) {
            reports.push_back(std::move(report));
        };
        options.log = log.sink();
        return options;
    }

    void subscribe(const std::string& token, std::vector<std::string> topics,
                   std::uint32_t max_events = 100) {
        bus.subscriber(token)
            .subscribe(std::move(topics),
                       {.callback = "https://" + token + ".example", .max_events = max_events})
            .value();
    }

    void publish(const std::string& topic, int count = 1) {
        for (int i = 0; i < count; ++i) {
            bus.publish({.topic = topic,
                         .type = EventType::update,
                         .url = "https://shop.example/orders/1"})
                .value();
        }
    }

    void run() { runner.run(clock.now()); }

    void run_for(Duration span) {
        const auto end = clock.now() + span;
        while (runner.run(clock.now()) <= end) clock.set(runner.next());
        clock.set(end);
    }

    /// The lines of the last report with this beginning, in alphabetical order.
    [[nodiscard]] std::vector<std::string> lines(const std::string& beginning) const {
        std::vector<std::string> lines;
        for (const auto& measurement : reports.back()) {
            auto line = to_string(measurement);
            if (line.starts_with(beginning)) lines.push_back(std::move(line));
        }
        std::sort(lines.begin(), lines.end());
        return lines;
    }

    testing::ManualClock clock;
    MemoryStore store;
    DisturbedStore disturbed{store};
    Bus bus{store, {.publisher = "pub--1", .clock = &clock}};
    RecordedLog log;
    std::vector<std::vector<Measurement>> reports;
    Monitor monitor;
    HandRunner runner{monitor};
};

using Lines = std::vector<std::string>;

/// Returns unrealistically large numbers.
class HugeStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        next().submit(steps, now, [done = std::move(done)](std::span<Outcome> outcomes) {
            for (auto& outcome : outcomes) {
                if (auto* use = std::get_if<StoreUse>(&*outcome)) use->bytes = UINT64_MAX;
                if (auto* status = std::get_if<QueueStatus>(&*outcome)) {
                    *status = {.scheduled = UINT64_MAX, .ready = std::uint64_t{1} << 63U};
                }
                if (auto* counters = std::get_if<std::vector<Counter>>(&*outcome)) {
                    counters->push_back({{"huge"}, INT64_MAX});
                    counters->push_back({{"wrapped"}, INT64_MIN});
                }
            }
            done(outcomes);
        });
    }
};

}  // namespace

TEST_CASE("a measurement is logged as a line in the format of Ruby Routemaster") {
    CHECK(to_string(Measurement{.kind = Measurement::Kind::counter,
                                .name = "events.published",
                                .value = 3,
                                .tags = {{"app", "bus"}, {"topic", "cats"}}}) ==
          "counter:events.published:3 (app:bus,topic:cats)");
    CHECK(to_string(Measurement{.name = "store.bytes_used", .value = -1}) ==
          "gauge:store.bytes_used:-1 ()");
}

TEST_CASE("the reported gauges cover every subscriber, and the jobs of every named queue") {
    MonitoredScene scene{{.queues = {"main", "mail"}}};
    scene.subscribe("billing", {"orders"}, 2);
    scene.subscribe("audit", {"orders", "refunds"});
    scene.publish("orders", 5);
    scene.publish("refunds");
    JobQueue mail{scene.store, "mail", scene.clock};
    mail.push({"welcome"}).value();
    scene.run();
    REQUIRE(scene.reports.size() == 1);
    CHECK(scene.lines("gauge:subscriber") ==
          Lines{"gauge:subscriber.dead.batches:0 (subscriber:audi…)",
                "gauge:subscriber.dead.batches:0 (subscriber:bill…)",
                "gauge:subscriber.queue.batches:1 (subscriber:audi…)",
                "gauge:subscriber.queue.batches:3 (subscriber:bill…)",
                "gauge:subscriber.queue.events:5 (subscriber:bill…)",
                "gauge:subscriber.queue.events:6 (subscriber:audi…)"});
    CHECK(scene.lines("gauge:jobs") == Lines{"gauge:jobs.count:0 (queue:mail,status:scheduled)",
                                             "gauge:jobs.count:1 (queue:mail,status:instant)",
                                             "gauge:jobs.count:2 (queue:main,status:instant)",
                                             "gauge:jobs.count:2 (queue:main,status:scheduled)"});
    const auto bytes = perform(scene.store, MeasureUse{}, scene.clock.now()).value().bytes;
    CHECK(scene.lines("gauge:store") ==
          Lines{"gauge:store.bytes_used:" + std::to_string(bytes) + " ()"});
    CHECK(scene.log.count(LogLevel::warning, "") == 0);
}

TEST_CASE("every counter of the store is reported, with the tags of Ruby Routemaster") {
    MonitoredScene scene{{.tags = {{"app", "bus"}, {"env", "test"}}}};
    scene.subscribe("billing", {"cats"});
    scene.publish("cats", 3);
    perform(scene.store, AddToCounters{{{{"events.removed", {{"queue", {}}}}, 4}}},
            scene.clock.now())
        .value();
    scene.run();
    const auto counters = scene.lines("counter:");
    CHECK(counters.size() == scene.bus.counters().value().size());
    const auto reports = [&](const std::string& line) {
        return std::count(counters.begin(), counters.end(), line) == 1;
    };
    CHECK(reports("counter:events.published:3 (app:bus,env:test,publisher:pub,topic:cats)"));
    CHECK(reports("counter:events.added:3 (app:bus,env:test,queue:bill…)"));
    CHECK_MESSAGE(reports("counter:events.removed:4 (app:bus,env:test,queue:)"),
                  "an unknown queue");
    CHECK(scene.lines("gauge:store.bytes_used").front().ends_with(" (app:bus,env:test)"));
}

TEST_CASE("measurements show only the public part of a token, and add up equal public parts") {
    MonitoredScene scene;
    for (const auto* token : {"billing--secret", "billing--geheim", "0123secret"}) {
        scene.subscribe(token, {"orders"});
    }
    scene.publish("orders", 3);
    perform(scene.store,
            AddToCounters{{{{"jobs.scrubbed", {{"queue", "main--queue"}}}, 2},
                           {{"huge", {{"queue", "billing--secret"}}}, INT64_MAX},
                           {{"huge", {{"queue", "billing--geheim"}}}, 1}}},
            scene.clock.now())
        .value();
    scene.run();
    CHECK(scene.lines("gauge:subscriber.queue.events") ==
          Lines{"gauge:subscriber.queue.events:3 (subscriber:0123…)",
                "gauge:subscriber.queue.events:6 (subscriber:billing)"});
    CHECK(scene.lines("counter:events.added") ==
          Lines{"counter:events.added:3 (queue:0123…)", "counter:events.added:6 (queue:billing)"});
    CHECK_MESSAGE(
        scene.lines("counter:jobs") == Lines{"counter:jobs.scrubbed:2 (queue:main--queue)"},
        "that is no token");
    CHECK(scene.lines("counter:huge") ==
          Lines{"counter:huge:" + std::to_string(INT64_MAX) + " (queue:billing)"});
    for (const auto& line : scene.lines("")) {
        CHECK(line.find("secret") == std::string::npos);
        CHECK(line.find("geheim") == std::string::npos);
    }
    scene.run_for(Duration{10'000});
    REQUIRE(scene.reports.size() == 2);
    CHECK_MESSAGE(scene.lines("counter:events.added:6 (queue:billing)").size() == 1,
                  "each round starts from zero");
}

TEST_CASE("the memory use of the store is reported with its limits") {
    MonitoredScene scene{{.capacity = CapacityOptions{}}};
    scene.run();
    CHECK(scene.lines("gauge:store") ==
          Lines{"gauge:store.bytes_used:0 ()", "gauge:store.high_mark:90000000 ()",
                "gauge:store.low_mark:80000000 ()", "gauge:store.max_mem:100000000 ()"});
}

TEST_CASE("the gauges of the store are reported under each of the store's names") {
    MonitoredScene scene{{.capacity = CapacityOptions{}, .store_names = {"redis", "store"}}};
    scene.run();
    for (const char* gauge : {"bytes_used", "max_mem", "low_mark", "high_mark"}) {
        CHECK(scene.lines(std::string{"gauge:store."} + gauge).size() == 1);
        CHECK(scene.lines(std::string{"gauge:redis."} + gauge).size() == 1);
    }
}

TEST_CASE("subscribers are all reported, each once, even if they do not fit on one page") {
    MonitoredScene scene;
    constexpr int count = 2'000;
    for (int i = 0; i < count; ++i) scene.subscribe("s" + std::to_string(i) + "--x", {"orders"});
    scene.run();
    auto lines = scene.lines("gauge:subscriber.queue.events");
    CHECK(lines.size() == count);
    CHECK(std::adjacent_find(lines.begin(), lines.end()) == lines.end());
    // Two full pages, and an empty page at the end.
    CHECK(scene.disturbed.times_of<ListSubscribers>().size() == 3);
}

TEST_CASE("one poll of the monitor makes at most one submission") {
    MonitoredScene scene;
    for (int i = 0; i < 1'500; ++i) scene.subscribe("s" + std::to_string(i) + "--x", {"orders"});
    AddToCounters counted;
    for (int i = 0; i < 1'500; ++i) counted.increments.push_back({{"n" + std::to_string(i)}, 1});
    perform(scene.store, counted, scene.clock.now()).value();
    std::size_t reports = 0;
    std::size_t counters = 0;
    Monitor monitor{scene.disturbed, {.report = [&](const std::vector<Measurement>& all) {
                        ++reports;
                        for (const auto& one : all) {
                            counters += one.kind == Measurement::Kind::counter ? 1 : 0;
                        }
                    }}};
    const auto now = scene.clock.now();
    CHECK(monitor.poll(now) == now);
    CHECK(scene.disturbed.times_of<ListSubscribers>().size() == 1);
    CHECK(monitor.poll(now) == now);
    CHECK(scene.disturbed.times_of<ListSubscribers>().size() == 2);
    CHECK(monitor.poll(now) == now);
    CHECK(monitor.poll(now) == now);
    CHECK(scene.disturbed.times_of<ListCounters>().size() == 1);
    CHECK(monitor.poll(now) == now);
    CHECK(scene.disturbed.times_of<ListCounters>().size() == 2);
    CHECK(reports == 0);
    CHECK(monitor.poll(now) == now + Duration{10'000});
    CHECK(reports == 1);
    CHECK(counters == 1'500);
}

TEST_CASE("numbers too large for a measurement are reported as the greatest number") {
    MemoryStore memory;
    HugeStore store{memory};
    std::vector<Measurement> measurements;
    Monitor monitor{store, {.report = [&](auto all) { measurements = std::move(all); }}};
    while (measurements.empty()) static_cast<void>(monitor.poll(from_milliseconds(1)));
    const auto value = [&](const std::string& name) {
        const auto found = std::find_if(measurements.begin(), measurements.end(),
                                        [&](const auto& each) { return each.name == name; });
        return found->value;
    };
    CHECK(value("store.bytes_used") == INT64_MAX);
    CHECK(value("jobs.count") == INT64_MAX);
    CHECK(value("huge") == INT64_MAX);
    CHECK(value("wrapped") == INT64_MIN);
}

TEST_CASE("measurements are reported at once, and then at every interval") {
    MonitoredScene scene{{.interval = Duration{2'000}}};
    scene.run_for(Duration{1'999});
    CHECK(scene.reports.size() == 1);
    scene.run_for(Duration{1});
    CHECK(scene.reports.size() == 2);
    scene.run_for(Duration{6'000});
    CHECK(scene.reports.size() == 5);
    CHECK_MESSAGE(scene.reports.back() == scene.reports.front(), "nothing is reported twice");
}

TEST_CASE("setting the clock back does not stop the reports of measurements") {
    MonitoredScene scene{{.interval = Duration{2'000}}};
    scene.run();
    REQUIRE(scene.reports.size() == 1);
    scene.clock.advance(Duration{-3'600'000});
    scene.runner.wake();
    scene.run();
    CHECK(scene.reports.size() == 2);
}

TEST_CASE("values that the store cannot report are left out, with one log line") {
    MonitoredScene scene{{.queues = {"main", "mail"}}};
    scene.subscribe("billing", {"orders"});
    scene.publish("orders");
    const auto count = [&](const std::string& beginning) { return scene.lines(beginning).size(); };
    SUBCASE("the store cannot list the subscribers") {
        scene.disturbed.refuse<ListSubscribers>(1);
        scene.run();
        CHECK(count("gauge:subscriber") == 0);
        CHECK(count("gauge:jobs") == 4);
        CHECK(count("counter:") == 3);
    }
    SUBCASE("the store cannot count the jobs of a queue") {
        scene.disturbed.lose_replies<CountJobs>(1);
        scene.run();
        CHECK(count("gauge:subscriber") == 3);
        CHECK(scene.lines("gauge:jobs").front().find("queue:mail") != std::string::npos);
        CHECK(count("gauge:jobs") == 2);
        CHECK(count("counter:") == 3);
    }
    SUBCASE("the store cannot measure its memory use") {
        scene.disturbed.refuse<MeasureUse>(1);
        scene.run();
        CHECK(count("gauge:store") == 0);
        CHECK(count("counter:") == 3);
    }
    SUBCASE("the store cannot list the counters") {
        scene.disturbed.refuse<ListCounters>(1);
        scene.run();
        CHECK(count("counter:") == 0);
        CHECK(count("gauge:store") == 1);
    }
    CHECK(scene.log.count(LogLevel::warning, "some measurements failed: ") == 1);

    scene.run_for(Duration{10'000});
    CHECK(count("gauge:") == 8);
    CHECK(count("counter:") == 3);
    CHECK(scene.log.count(LogLevel::warning, "") == 1);
    scene.disturbed.refuse<MeasureUse>(2);
    scene.run_for(Duration{20'000});
    CHECK(scene.log.count(LogLevel::warning, "") == 2);
}

TEST_CASE("without any value from the store, no report is made") {
    MonitoredScene scene;
    scene.disturbed.refuse<ListSubscribers>(1);
    scene.disturbed.refuse<CountJobs>(1);
    scene.disturbed.refuse<MeasureUse>(1);
    scene.disturbed.refuse<ListCounters>(1);
    scene.run();
    CHECK(scene.reports.empty());
    scene.run_for(Duration{10'000});
    CHECK(scene.reports.size() == 1);
}

TEST_CASE("a slow store is not asked for measurements again before its reply") {
    MonitoredScene scene;
    scene.disturbed.delay<ListSubscribers>();
    scene.run_for(Duration{60'000});
    scene.runner.wake();
    scene.run();
    CHECK(scene.disturbed.times_of<ListSubscribers>().size() == 1);
    scene.disturbed.release();
    scene.run();
    CHECK(scene.reports.size() == 2);
    CHECK(scene.runner.next() == scene.clock.now() + Duration{10'000});
}

TEST_CASE("a closing monitor waits for the store until its deadline, and reports no value") {
    MonitoredScene scene;
    const auto close = [&] {
        scene.monitor.close(scene.clock.now() + Duration{1'000});
        scene.runner.wake();
        scene.run();
    };
    std::size_t reports = 0;
    SUBCASE("the monitor is idle") {
        scene.run();
        reports = 1;
        close();
        CHECK(scene.monitor.closed());
    }
    SUBCASE("the store is listing subscribers") {
        scene.disturbed.delay<ListSubscribers>();
        scene.run();
        close();
        CHECK(!scene.monitor.closed());
        scene.disturbed.release();
        scene.run();
        CHECK(scene.disturbed.times_of<ListCounters>().empty());
    }
    SUBCASE("the store is listing counters") {
        scene.disturbed.delay<ListCounters>();
        scene.run();
        close();
        CHECK(!scene.monitor.closed());
        scene.disturbed.release();
        scene.run();
    }
    SUBCASE("the store does not reply in time") {
        scene.disturbed.delay<ListSubscribers>();
        scene.run();
        close();
        scene.run_for(Duration{999});
        CHECK(!scene.monitor.closed());
        scene.run_for(Duration{1});
        scene.run();
    }
    CHECK(scene.monitor.closed());
    scene.run_for(Duration{60'000});
    CHECK(scene.reports.size() == reports);
    CHECK(scene.runner.next() == never);
}
