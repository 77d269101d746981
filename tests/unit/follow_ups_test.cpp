/// @file
/// Follow-ups: jobs and events that handlers create with the end of their job.

#include "routemaster/follow_ups.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/job_exceptions.hpp"
#include "routemaster/testing/job_tester.hpp"
#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

Event order_event(const std::string& topic = "orders") {
    return {.topic = topic, .type = EventType::update, .url = "https://shop.example/orders/1"};
}

/// A pool on a store with a subscriber of `orders`.
struct FollowScene : JobScene {
    FollowScene() {
        bus.subscriber("billing")
            .subscribe({"orders"}, {.callback = "https://billing.example/", .timeout = Duration{0}})
            .value();
    }

    [[nodiscard]] std::size_t events() {
        return bus.subscriber("billing").status().value()->events_queued;
    }

    Bus bus{memory, {.clock = &clock}};
};

/// A handler with a job and an event as follow-ups.
void follow(JobContext& job) {
    job.push("next", {"b", {1}}).value();
    job.publish(order_event()).value();
}

struct Follow {
    static constexpr std::string_view name = "typed";
    std::int64_t number = 0;

    [[nodiscard]] Value::Array encode() const { return {number}; }
    static Result<Follow> decode(const Value::Array& arguments) {
        const auto* number = arguments.size() == 1 ? arguments[0].get_if<std::int64_t>() : nullptr;
        if (number == nullptr) return Error{Errc::invalid, "number"};
        return Follow{*number};
    }
};

}  // namespace

TEST_CASE("follow-up jobs and events of a job exist when the job is done, and not before") {
    FollowScene scene;
    HandPool pool{scene};
    JobQueue next{scene.memory, "next", scene.clock};
    pool.keep("a");
    scene.push("a");
    pool.run();
    auto& context = pool.kept->context();
    context.push("next", {"b"}, {.delay = Duration{500}, .attempts_max = 3}).value();
    context.push("next", Follow{7}).value();
    context.publish(order_event()).value();
    pool.run();
    CHECK(next.status().value() == QueueStatus{});
    CHECK(scene.events() == 0);
    scene.clock.advance(Duration{200});
    pool.kept->done();
    pool.run();
    CHECK(scene.queue() == QueueStatus{});
    CHECK(next.status().value() == QueueStatus{.scheduled = 1, .ready = 1});
    CHECK(scene.events() == 1);
    const auto later = next.list(JobStatus::State::scheduled).value().jobs.at(0);
    CHECK(later.options.attempts_max == 3);
    // Delays count from the call in the handler.
    CHECK(later.run_at == scene.clock.now() + Duration{300});
    CHECK(pool.pool.status() == WorkerPoolStatus{.done = 1});

    const auto late = context.push("next", {"c"});
    REQUIRE(!late);
    CHECK(late.error().message().find("the attempt has ended") != std::string::npos);
}

TEST_CASE("follow-up jobs and events of a failed attempt are dropped") {
    FollowScene scene;
    HandPool pool{scene, {.concurrency = 4}};
    pool.pool.handle("fails", [](JobContext& job) {
        follow(job);
        throw std::runtime_error{"no"};
    });
    pool.pool.handle("snoozes", [](JobContext& job) {
        follow(job);
        throw Snooze{Duration{60'000}};
    });
    pool.pool.handle("buried", [](JobContext& job) {
        follow(job);
        throw Bury{"no"};
    });
    for (const char* name : {"fails", "snoozes", "buried"}) scene.push(name);
    pool.run();
    CHECK(scene.queue() == QueueStatus{.scheduled = 2, .buried = 1});
    CHECK(JobQueue(scene.memory, "next").status().value() == QueueStatus{});
    CHECK(scene.events() == 0);
}

TEST_CASE("follow-up jobs and events of a job with a lost lease are never added") {
    FollowScene scene;
    HandPool frozen{scene};
    frozen.keep("a");
    scene.push("a");
    frozen.run();
    follow(frozen.kept->context());
    HandPool other{scene};
    other.keep("a");
    other.run_for(Duration{60'000});
    frozen.kept->done();
    frozen.run();
    CHECK(frozen.pool.status().lease_lost == 1);
    CHECK(scene.events() == 0);
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    follow(other.kept->context());
    other.kept->done();
    other.run();
    CHECK(scene.events() == 1);
    CHECK(JobQueue(scene.memory, "next").status().value() == QueueStatus{.ready = 1});
}

TEST_CASE("follow-up jobs and events are added once, even if the reply was lost") {
    FollowScene scene;
    HandPool pool{scene};
    pool.pool.handle("a", follow);
    scene.push("a");
    scene.store.lose_replies<CompleteJob>(1);
    pool.run_for(Duration{1'000});
    CHECK(scene.queue() == QueueStatus{});
    CHECK(scene.events() == 1);
    CHECK(pool.pool.status() == WorkerPoolStatus{.done = 1});
}

TEST_CASE(
    "an attempt with a follow-up event that may not be published fails, without any follow-up "
    "job") {
    FollowScene scene;
    Bus shop{scene.memory, {.publisher = "shop", .clock = &scene.clock}};
    shop.publish(order_event()).value();
    HandPool pool{scene};
    pool.pool.handle("a", follow);
    const auto id = scene.push("a", {.attempts_max = 1});
    pool.run();
    const auto job = scene.job(id);
    CHECK(job.state == JobStatus::State::buried);
    CHECK(job.errors.at(0).text.starts_with(
        "the follow-ups of the job were refused: publications[0]: topic:"));
    CHECK(JobQueue(scene.memory, "next").status().value() == QueueStatus{});
    CHECK(scene.events() == 1);
    CHECK(pool.pool.status() == WorkerPoolStatus{.failed = 1, .buried = 1});

    HandPool owner{scene, {.publications = {.publisher = "shop"}}};
    owner.pool.handle("b", follow);
    scene.push("b");
    owner.run();
    CHECK(scene.events() == 2);
}

TEST_CASE("option effects: follow-up events are published as PublicationOptions say") {
    FollowUps all;
    const TimePoint now = from_milliseconds(1'000);
    auto large = order_event();
    large.data = Value{Value::Map{{"text", std::string(20, 'x')}}};
    CHECK(all.publish(large, {}, now));
    CHECK(!all.publish(large, {.event_data_max = 20}, now));
    CHECK(all.publish(order_event("orders2"), {}, now));
    CHECK(!all.publish(order_event("orders2"), {.rules = {.topics = TopicRule::ruby}}, now));
    CHECK(all.publish(order_event(), {.publisher = "shop", .topics_max = 3, .authenticate = true},
                      now));
    REQUIRE(all.publications().size() == 3);
    const auto& last = all.publications().back();
    CHECK(last.publisher == "shop");
    CHECK(last.topics_max == 3);
    CHECK(last.authenticate);
}

TEST_CASE("while the store is full, jobs with follow-up jobs or events wait and occupy slots") {
    FollowScene scene;
    HandPool pool{scene, {.concurrency = 2}};
    std::size_t begun = 0;
    pool.pool.handle("a", [&](JobContext& job) {
        ++begun;
        follow(job);
    });
    for (int i = 0; i < 20; ++i) scene.jobs.push({"a", {i}}).value();
    scene.store.refuse<CompleteJob>(1'000);
    pool.run_for(Duration{20'000});
    // Two more jobs were acquired before the first reply.
    CHECK(begun == 4);
    CHECK(scene.queue() == QueueStatus{.ready = 16, .pending = 4});
    CHECK(scene.events() == 0);

    scene.store.accept<CompleteJob>();
    pool.run_for(Duration{10'000});
    CHECK(begun == 20);
    CHECK(scene.queue() == QueueStatus{});
    CHECK(scene.events() == 20);
}

TEST_CASE("an invalid follow-up job or event is refused inside the handler, and is not added") {
    FollowScene scene;
    HandPool pool{scene};
    int refused = 0;
    pool.pool.handle("a", [&](JobContext& job) {
        const auto refuse = [&](const Result<void>& added, std::string_view field) {
            REQUIRE(!added);
            CHECK(added.error().code() == Errc::invalid);
            CAPTURE(added.error().message());
            CHECK(added.error().context().starts_with(field));
            ++refused;
        };
        refuse(job.push("main", {"b"}), "queue:");
        refuse(job.push("no queue", {"b"}), "queue:");
        refuse(job.push("aux", {"b"}, {.attempts_max = 1}), "options:");
        refuse(job.push("next", {""}), "name:");
        refuse(job.push("next", {"b"}, {.after = {1}}), "after:");
        refuse(job.push("next", {"b"}, {.unique = Unique::by_key("")}), "unique.key:");
        refuse(job.publish(order_event("No Topic")), "topic:");
        refuse(job.publish({.topic = "orders", .type = EventType::update, .url = "no"}), "url:");
        for (std::size_t i = 0; i < follow_ups_max; ++i) {
            job.push("next", {"b", {static_cast<std::int64_t>(i)}}).value();
        }
        refuse(job.push("next", {"c"}), "follow-ups:");
        refuse(job.publish(order_event()), "follow-ups:");
    });
    scene.push("a");
    pool.run();
    CHECK(refused == 10);
    CHECK(JobQueue(scene.memory, "next").status().value() == QueueStatus{.ready = follow_ups_max});
}

TEST_CASE("the total size of a job's follow-up jobs and events is limited") {
    FollowUps all;
    const TimePoint now = from_milliseconds(1'700'000'000'000);
    const std::string quarter(follow_up_bytes_max / 4 - 100, 'x');
    for (const auto* name : {"a", "b", "c", "d"})
        CHECK(all.push("next", {name, {quarter}}, {}, now));
    const auto fifth = all.push("next", {"e", {quarter}}, {}, now);
    REQUIRE(!fifth);
    CHECK(fifth.error().code() == Errc::invalid);
    CHECK(all.size() == 4);
    CHECK(all.push("next", {"e"}, {}, now));
    CHECK(std::move(all).step({.queue = "work", .job = "j", .worker = {}}).check());
}

TEST_CASE("a job may push itself as a follow-up job") {
    testing::JobTester jobs{{.queues = {"work"}}};
    int runs = 0;
    jobs.pool().handle("again", [&](JobContext& job) {
        ++runs;
        job.push(job.queue(), job.job(), {.delay = Duration{60'000}}).value();
    });
    jobs.queue("work").push({"again"}).value();
    jobs.advance(Duration{3 * 60'000});
    CHECK(runs == 4);
}

TEST_CASE("a tester shows and runs the follow-up jobs of jobs") {
    testing::JobTester jobs{{.queues = {"work"}}};
    std::vector<std::string> ran;
    jobs.pool().handle("first", [&](JobContext& job) {
        ran.push_back("first");
        job.push("work", {"second", {1}}, {.attempts_max = 2}).value();
        job.push("elsewhere", {"third"}).value();
        job.push("work", {"second", {1}}).value();
    });
    jobs.pool().handle("second", [&](JobContext&) { ran.push_back("second"); });
    jobs.queue("work").push({"first"}).value();
    CHECK(jobs.drain() == 2);
    CHECK(ran == std::vector<std::string>{"first", "second"});
    REQUIRE(jobs.pushed("second").size() == 1);
    CHECK(jobs.pushed("second")[0].options.attempts_max == 2);
    CHECK(jobs.pushed("second")[0].id != 0);
    CHECK(jobs.pushed("third").at(0).queue == "elsewhere");
}

TEST_CASE("a test can inspect the follow-up jobs of a handler without a pool") {
    JobContext context{{"a"}, {.queue = "work", .job = "a", .worker = {}}};
    follow(context);
    const auto all = context.take_follow_ups();
    REQUIRE(all);
    CHECK(all->pushes().at(0).queue == "next");
    CHECK(all->publications().at(0).topic == "orders");
    CHECK(!context.push("next", {"b"}));
    CHECK(!context.take_follow_ups());
}

TEST_CASE("a follow-up timer of a job is posted when the job is done, and not before") {
    FollowScene scene;
    HandPool pool{scene};
    Delayer calls{scene.memory, "calls", scene.clock};
    int failures = 1;
    pool.pool.handle("a", [&](JobContext& job) {
        CHECK(job.post("calls", {"remind"}, Duration{500}, {.id = "a", .retries_max = 2}).value() ==
              "a");
        CHECK(job.post("no space", 1, Duration{0}).error().code() == Errc::invalid);
        if (failures-- > 0) throw std::runtime_error{"no"};
    });
    const auto begin = scene.clock.now();
    scene.push("a");
    pool.run();
    CHECK(calls.counts().value().pending == 0);
    pool.run_for(Duration{5'000});
    const auto found = calls.peek("a").value();
    REQUIRE(found);
    CHECK(found->retries_max == 2);
    CHECK(found->at > begin + Duration{500});
    CHECK(scene.queue() == QueueStatus{});
}
