/// @file
/// Repeated pushes are recognised by idempotency keys.

#include "core/jobs/state/idempotency_keys.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/follow_ups.hpp"
#include "routemaster/job_queue.hpp"
#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr TimePoint pushed_at = from_milliseconds(1'000);

}  // namespace

TEST_CASE("of too many idempotency keys the key that expires first is removed and counted") {
    detail::NoChangeLog changes;
    detail::CounterTable counters{changes};
    detail::IdempotencyKeys keys{changes, counters};
    const auto keep = [&keys](const std::string& text, Duration time) {
        keys.keep("work", {.text = text, .fingerprint = 1, .time = time}, Pushed{}, pushed_at);
    };
    keep("first", Duration{1});
    for (std::size_t n = 1; n < idempotency_keys_max; ++n) {
        keep(std::to_string(n), Duration{1'000});
    }
    CHECK(keys.find("work", "first", pushed_at) != nullptr);
    keep("one more", Duration{1'000});
    CHECK(keys.size() == idempotency_keys_max);
    CHECK(keys.find("work", "first", pushed_at) == nullptr);
    CHECK(keys.find("work", "one more", pushed_at) != nullptr);
    const auto counted = counters.list({.limit = 10});
    REQUIRE(counted.size() == 1);
    CHECK(counted[0].key == CounterKey{"jobs.idempotency_keys_forgotten", {{"queue", "work"}}});
    CHECK(counted[0].value == 1);
}

TEST_CASE("a push repeated with its idempotency key returns the first reply") {
    JobScene scene;
    HandPool pool{scene};
    int done = 0;
    pool.pool.handle("a", [&](JobContext&) { ++done; });
    const PushOptions options{.unique = Unique::off(), .idempotency_key = "order 42"};
    const auto first = scene.jobs.push(Job{"a"}, options).value();
    CHECK(scene.jobs.push(Job{"a"}, options).value() == first);
    pool.run();
    scene.clock.advance(idempotency_time_default - Duration{1});
    const auto repeated = scene.jobs.push(Job{"a"}, options).value();
    CHECK(repeated == first);
    CHECK(repeated.id == first.id);
    pool.run();
    CHECK(done == 1);
    scene.clock.advance(Duration{1});
    CHECK(scene.jobs.push(Job{"a"}, options).value().id != first.id);
}

TEST_CASE("an idempotency key refuses a push that differs from the first push with the key") {
    const PushOptions first{.group = "g", .idempotency_key = "k"};
    const auto with = [&first](const std::function<void(PushOptions&)>& change) {
        auto options = first;
        change(options);
        return options;
    };
    // All options except the idempotency key, and except the bound, which does not affect the job.
    const std::vector<PushOptions> others{
        with([](auto& o) { o.delay = Duration{1}; }),
        with([](auto& o) { o.run_at = pushed_at; }),
        with([](auto& o) { o.attempts_max = 1; }),
        with([](auto& o) { o.priority = 1; }),
        with([](auto& o) { o.timeout = Duration{1}; }),
        with([](auto& o) { o.expires = Duration{1}; }),
        with([](auto& o) { o.unique = Unique::off(); }),
        with([](auto& o) { o.unique = Unique::by_key("a"); }),
        with([](auto& o) { o.unique = Unique::by_key("b"); }),
        with([](auto& o) { o.unique = Unique::by_key("a", KeyScope::until_started); }),
        with([](auto& o) { o.unique = Unique::replace("a"); }),
        with([](auto& o) { o.unique = Unique::throttle("a", Duration{1}); }),
        with([](auto& o) { o.unique = Unique::throttle("a", Duration{2}); }),
        with([](auto& o) {
            o.metadata = {{"a", "b"}};
        }),
        with([](auto& o) { o.group = "other"; }),
        with([](auto& o) { o.concurrency = 2; }),
        with([](auto& o) { o.batch = 1; }),
        with([](auto& o) { o.after = {1}; }),
    };
    JobScene scene;
    const auto refused = [&scene](const Job& job, const PushOptions& options) {
        const auto pushed = scene.jobs.push(job, options);
        REQUIRE(!pushed);
        CHECK(pushed.error().code() == Errc::invalid);
        CHECK(pushed.error().context().starts_with(
            "idempotency_key: was used for a push with other content"));
    };
    REQUIRE(scene.jobs.push(Job{"a"}, first));
    refused(Job{"b"}, first);
    refused(Job{"a", {1}}, first);
    for (std::size_t i = 0; i < others.size(); ++i) {
        CAPTURE(i);
        refused(Job{"a"}, others[i]);
    }
    CHECK(scene.jobs.push(Job{"a"}, first));
    CHECK(scene.jobs.status().value() == QueueStatus{.ready = 1});
}

TEST_CASE("an idempotency key needs a push into a queue, and a positive time") {
    JobScene scene;
    const auto problem = [&scene](PushOptions options) {
        return scene.jobs.check(Job{"a"}, options).error().context();
    };
    CHECK(problem({.idempotency_key = "k", .idempotency_time = Duration{0}})
              .starts_with("idempotency_time: must be positive"));
    CHECK(problem({.idempotency_time = Duration{1'000}}) ==
          "idempotency_time: is allowed only with an idempotency_key");
    CHECK(problem({.idempotency_key = std::string(idempotency_key_max + 1, 'k')})
              .starts_with("idempotency_key: must have at most"));
    FollowUps follow_ups;
    CHECK(follow_ups.push("work", Job{"a"}, {.idempotency_key = "k"}, pushed_at)
              .error()
              .context()
              .starts_with("idempotency_key:"));
    REQUIRE(follow_ups.push("work", Job{"a"}, {.unique = Unique::off()}, pushed_at));
}

TEST_CASE("with push_many, the idempotency key of each job has the index of the job") {
    JobScene scene;
    const std::vector<Job> equal(4, Job{"a"});
    const PushOptions options{.unique = Unique::off(), .idempotency_key = "K"};
    std::vector<Result<Pushed>> first;
    SUBCASE("the call waits for its results") { first = scene.jobs.push_many(equal, options); }
    SUBCASE("the call has a completion") {
        scene.jobs.push_many(equal, options, [&](auto replies) { first = std::move(replies); });
    }
    REQUIRE(first.size() == 4);
    for (std::size_t i = 0; i < first.size(); ++i) {
        CAPTURE(i);
        CHECK(first[i].value() == Pushed{PushOutcome::pushed, i + 1});
    }
    CHECK(scene.jobs.status().value() == QueueStatus{.ready = 4});
    // The whole call again, and the first two jobs of the call.
    for (const std::size_t jobs : {std::size_t{4}, std::size_t{2}}) {
        const auto again = scene.jobs.push_many(std::span{equal}.first(jobs), options);
        REQUIRE(again.size() == jobs);
        for (std::size_t i = 0; i < jobs; ++i) CHECK(again[i].value() == first[i].value());
    }
    CHECK(scene.jobs.status().value() == QueueStatus{.ready = 4});
    // The same key, as an array over HTTP has it.
    auto second = options;
    second.idempotency_key = "K[1]";
    CHECK(scene.jobs.push(Job{"a"}, second).value() == first[1].value());
    // Different jobs are different pushes.
    const auto other = scene.jobs.push_many(std::vector{Job{"a", {1}}, Job{"a", {2}}},
                                            {.idempotency_key = "other"});
    CHECK(other.at(0).value() == PushOutcome::pushed);
    CHECK(other.at(1).value() == PushOutcome::pushed);
    CHECK(scene.jobs.status().value() == QueueStatus{.ready = 6});
}

TEST_CASE("push_each refuses a job with the idempotency key of an earlier job of the call") {
    JobScene scene;
    const auto named = [](const char* job, const char* key) {
        return JobPush{Job{job}, {.unique = Unique::off(), .idempotency_key = key}};
    };
    const std::vector<JobPush> pushes{named("a", "K"), named("a", "K"), named("b", "K"),
                                      named("c", "L"), named("d", ""),  named("e", "")};
    std::vector<Result<Pushed>> replies;
    SUBCASE("the call waits for its results") { replies = scene.jobs.push_each(pushes); }
    SUBCASE("the call has a completion") {
        scene.jobs.push_each(pushes, [&](auto all) { replies = std::move(all); });
    }
    REQUIRE(replies.size() == pushes.size());
    for (const std::size_t refused : {std::size_t{1}, std::size_t{2}}) {
        REQUIRE(!replies[refused]);
        CHECK(replies[refused].error().code() == Errc::invalid);
        CHECK(replies[refused].error().context() ==
              "idempotency_key: an earlier job of the same call has this key");
    }
    for (const std::size_t done :
         {std::size_t{0}, std::size_t{3}, std::size_t{4}, std::size_t{5}}) {
        CHECK(replies[done].value() == PushOutcome::pushed);
    }
    CHECK(scene.jobs.status().value() == QueueStatus{.ready = 4});
}
