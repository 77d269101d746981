/// @file
/// The pushes of a `JobQueue` that count as duplicates.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/memory.hpp"
#include "support/disturbed_store.hpp"
#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE(
    "with uniqueness off, each push makes a job, and a push whose reply is lost is not repeated") {
    MemoryStore memory;
    DisturbedStore store{memory};
    JobQueue jobs{store, "work"};
    const PushOptions each{.unique = Unique::off()};
    CHECK(jobs.push(Job{"a"}, each).value() == PushOutcome::pushed);
    CHECK(jobs.push(Job{"a"}, each).value() == PushOutcome::pushed);
    CHECK(jobs.push(Job{"a"}).value() == PushOutcome::pushed);
    store.lose_replies<PushJob>(2);
    CHECK(jobs.push_many(std::vector<Job>{{"a"}, {"a"}}, each).size() == 2);
    CHECK(jobs.status().value() == QueueStatus{.ready = 5});
}

TEST_CASE("a key excludes further jobs until its job is done, or until its job starts") {
    JobScene scene;
    HandPool pool{scene};
    std::vector<std::string> pushed_again;
    const auto push_again = [&](const std::string& key, KeyScope scope) {
        const auto pushed = scene.jobs.push({"b", {key}}, {.unique = Unique::by_key(key, scope)});
        if (pushed.value() == PushOutcome::pushed) pushed_again.push_back(key);
    };
    pool.pool.handle("a done", [&](JobContext&) { push_again("done", KeyScope::until_done); });
    pool.pool.handle("a started",
                     [&](JobContext&) { push_again("started", KeyScope::until_started); });
    pool.pool.handle("b", [](JobContext&) {});
    scene.push("a done", {.unique = Unique::by_key("done")});
    scene.push("a started", {.unique = Unique::by_key("started", KeyScope::until_started)});
    push_again("done", KeyScope::until_done);
    push_again("started", KeyScope::until_started);
    REQUIRE(pushed_again.empty());
    pool.run();
    CHECK(pushed_again == std::vector<std::string>{"started"});
}

TEST_CASE("the last push replaces the waiting job") {
    JobScene scene;
    const PushOptions latest{.unique = Unique::replace("report")};
    const auto id = scene.jobs.push({"report", {1}}, latest).value().id;
    CHECK(scene.jobs.push({"report", {2}}, latest).value() == Pushed{PushOutcome::replaced, id});
    CHECK(decode_job(scene.job(id).job).value() == Job{"report", {2}});
}

TEST_CASE("the delay of a debounced job counts from the last push") {
    JobScene scene;
    const PushOptions later{.delay = Duration{100}, .unique = Unique::debounce("reindex")};
    const auto id = scene.jobs.push(Job{"reindex"}, later).value().id;
    scene.clock.advance(Duration{90});
    CHECK(scene.jobs.push(Job{"reindex"}, later).value() == PushOutcome::replaced);
    CHECK(scene.job(id).run_at == scene.clock.now() + Duration{100});
}

TEST_CASE("a throttled job is pushed only once within its time, even after it is done") {
    JobScene scene;
    HandPool pool{scene};
    int mails = 0;
    pool.pool.handle("mail", [&](JobContext&) { ++mails; });
    const PushOptions hourly{.unique = Unique::throttle("mail:42", Duration{3'600'000})};
    for (int minute = 0; minute < 120; ++minute) {
        scene.jobs.push({"mail", {minute}}, hourly).value();
        pool.run();
        scene.clock.advance(Duration{60'000});
    }
    CHECK(mails == 2);
}

TEST_CASE("an empty key, or a key without a positive time, is refused") {
    JobScene scene;
    const auto refused = [&](Unique unique) {
        const auto pushed = scene.jobs.push(Job{"a"}, {.unique = std::move(unique)});
        REQUIRE(!pushed);
        CHECK(pushed.error().code() == Errc::invalid);
        return pushed.error().context();
    };
    CHECK(refused(Unique::by_key("")).starts_with("unique.key:"));
    CHECK(refused(Unique::throttle("a", Duration{0})).starts_with("unique.time:"));
    CHECK(refused(Unique::by_key(std::string(job_key_max + 1, 'x'))).starts_with("unique.key:"));
    // Members that no push would read.
    for (const auto scope : {KeyScope::until_done, KeyScope::until_started}) {
        auto timed = Unique::by_key("a", scope);
        timed.time = Duration{60'000};
        CHECK(refused(timed) == "unique.time: is allowed only with the scope for_time");
    }
    for (const auto by : {Unique::By::job, Unique::By::nothing}) {
        CHECK(refused({.by = by, .scope = KeyScope::until_started}).starts_with("unique.scope:"));
        CHECK(refused({.by = by, .time = Duration{1}}).starts_with("unique.time:"));
        CHECK(refused({.by = by, .on_duplicate = OnDuplicate::replace})
                  .starts_with("unique.on_duplicate:"));
    }
    CHECK(scene.jobs.status().value() == QueueStatus{});
    JobQueue aux{scene.memory, "aux", scene.clock};
    CHECK(aux.push(Job{"a"}, {.unique = Unique::off()}).error().code() == Errc::invalid);
}
