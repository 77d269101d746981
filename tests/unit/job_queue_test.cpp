#include "routemaster/job_queue.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "support/disturbed_store.hpp"

using namespace routemaster;

namespace {

struct Queue {
    /// The jobs that can be acquired now.
    [[nodiscard]] std::vector<Job> acquire() {
        const auto acquired =
            perform(store, AcquireJobs{"work", Uid{1, 1}, 100}, clock.now()).value();
        std::vector<Job> all;
        for (const auto& lease : acquired.leases) all.push_back(decode_job(lease.job).value());
        return all;
    }

    testing::ManualClock clock;
    MemoryStore store;
    JobQueue jobs{store, "work", clock};
};

const Job resize{"resize", {Value{42}, Value{"large"}}};

}  // namespace

TEST_CASE("a pushed job can be acquired at once") {
    Queue queue;
    CHECK(queue.jobs.push(resize).value() == PushOutcome::pushed);
    CHECK(queue.jobs.status().value() == QueueStatus{0, 1, 0});
    CHECK(queue.acquire() == std::vector<Job>{resize});
    CHECK(queue.jobs.status().value() == QueueStatus{0, 0, 1});
}

TEST_CASE("a job with an equal name and arguments is a duplicate, whatever its delay") {
    Queue queue;
    CHECK(queue.jobs.push(resize).value() == PushOutcome::pushed);
    CHECK(queue.jobs.push(resize, {.delay = Duration{500}}).value() == PushOutcome::duplicate);
    CHECK(queue.jobs.push({"resize", {Value{43}}}).value() == PushOutcome::pushed);
    JobQueue other{queue.store, "other", queue.clock};
    CHECK(other.push(resize).value() == PushOutcome::pushed);
}

TEST_CASE("a delayed job is due when its delay is over") {
    Queue queue;
    CHECK(queue.jobs.push(resize, {.delay = Duration{500}}).value() == PushOutcome::pushed);
    CHECK(queue.jobs.status().value() == QueueStatus{1, 0, 0});
    queue.clock.advance(Duration{499});
    CHECK(queue.acquire().empty());
    queue.clock.advance(Duration{1});
    CHECK(queue.acquire() == std::vector<Job>{resize});
}

TEST_CASE("a job can have a due time, but not both a due time and a delay") {
    Queue queue;
    const auto at = queue.clock.now() + Duration{100};
    const auto refused = queue.jobs.push(resize, {.delay = Duration{9'000}, .run_at = at});
    REQUIRE(!refused);
    CHECK(refused.error().code() == Errc::invalid);
    CHECK(refused.error().context() == "delay: cannot be combined with run_at");
    queue.jobs.push(resize, {.run_at = at}).value();
    queue.clock.advance(Duration{99});
    CHECK(queue.acquire().empty());
    queue.clock.set(at);
    CHECK(queue.acquire() == std::vector<Job>{resize});
}

TEST_CASE("a job with a delay beyond the end of time is never due") {
    Queue queue;
    CHECK(queue.jobs.push(resize, {.delay = Duration::max()}).value() == PushOutcome::pushed);
    queue.clock.advance(Duration{1'000'000'000'000});
    CHECK(queue.acquire().empty());
}

TEST_CASE("a job waits for the dependencies in its push") {
    Queue queue;
    const auto first = queue.jobs.push(resize).value().id;
    const auto next = queue.jobs.push({"mail"}, {.after = {first}}).value().id;
    CHECK(queue.jobs.status().value() == QueueStatus{.scheduled = 1, .ready = 1});
    CHECK(queue.jobs.find(next).value()->after == std::vector<JobId>{first});
    CHECK(queue.jobs.push({"mail", {1}}, {.after = {next + 1}}).error().context() ==
          "after: no job has had the id 3");
    CHECK(queue.jobs.check(resize, {.after = {0}}).error().code() == Errc::invalid);
    CHECK(queue.jobs.remove(first).value() == Deletion::deleted);
    CHECK(queue.jobs.status().value() == QueueStatus{.buried = 1});
}

TEST_CASE("a queue whose name is missing or too long refuses jobs, and the error names the field") {
    Queue queue;
    for (const auto& name : {std::string{}, std::string(65, 'q')}) {
        JobQueue bad{queue.store, name, queue.clock};
        const auto refused = bad.push(resize);
        REQUIRE(!refused);
        CHECK(refused.error().code() == Errc::invalid);
        CHECK(refused.error().context().starts_with("queue:"));
    }
    JobQueue longest{queue.store, std::string(64, 'q'), queue.clock};
    CHECK(longest.push(resize));
}

TEST_CASE("pushing into the delivery queue of the bus is refused") {
    Queue queue;
    JobQueue deliveries{queue.store, delivery_queue, queue.clock};
    const auto refused = [](const auto& reply) {
        return !reply && reply.error().code() == Errc::invalid &&
               reply.error().context().starts_with("queue: main");
    };
    CHECK(refused(deliveries.push(resize)));
    CHECK(refused(deliveries.status()));
    for (const auto& reply : deliveries.push_many(std::vector{resize, resize})) {
        CHECK(refused(reply));
    }
    int replied = 0;
    deliveries.push(resize, {}, [&](const auto& reply) { replied += refused(reply) ? 1 : 0; });
    deliveries.status([&](const auto& reply) { replied += refused(reply) ? 1 : 0; });
    CHECK(replied == 2);
    CHECK(perform(queue.store, CountJobs{delivery_queue}, queue.clock.now()).value() ==
          QueueStatus{});
}

TEST_CASE("a job without a name is refused") {
    Queue queue;
    const auto refused = queue.jobs.push(Job{"", {Value{1}}});
    REQUIRE(!refused);
    CHECK(refused.error().code() == Errc::invalid);
    CHECK(refused.error().context().starts_with("name:"));
    const auto replies = queue.jobs.push_many(std::vector{Job{""}, resize});
    CHECK(!replies.at(0));
    CHECK(replies.at(1).value() == PushOutcome::pushed);
    CHECK(queue.acquire() == std::vector<Job>{resize});
}

TEST_CASE("a job that neither JSON nor its encoding can represent is refused") {
    Queue queue;
    const auto refused = [&](const Job& job, std::string_view field) {
        const auto reply = queue.jobs.push(job);
        CHECK(queue.jobs.status().value() == QueueStatus{});
        return !reply && reply.error().code() == Errc::invalid &&
               reply.error().context().starts_with(field);
    };
    CHECK(refused(Job{"a\xff"}, "name: "));
    CHECK(refused(Job{std::string{"a\0b", 3}}, "name: "));
    CHECK(refused(Job{"a", {"\xc3"}}, "arguments: contains text"));
    CHECK(refused(Job{"a", {std::nan("")}}, "arguments: contains a number"));
    CHECK(refused(Job{"a", {Value::Array{-INFINITY}}}, "arguments: contains a number"));
    CHECK(refused(Job{"a", {Value::Map{{"\xff", 1}}}}, "arguments: contains a key"));
    CHECK(refused(Job{"a", {Value::Map{{"k", 1}, {"k", 2}}}}, "arguments: contains the key"));
    CHECK(refused(Job{"a", {std::string(job_bytes_max, 'x')}}, "job: must have at most"));
    const auto fits = Job{"a", {std::string(job_bytes_max - 9, 'x')}};
    CHECK(encode_job(fits).size() == job_bytes_max);
    CHECK(!queue.jobs.push(fits, {.bytes_max = job_bytes_max - 1}));
    CHECK(queue.jobs.push(fits));
    const auto large = Job{"b", {std::string(job_bytes_max, 'x')}};
    CHECK(queue.jobs.check(large, {.bytes_max = 2 * job_bytes_max}));
    const auto huge = Job{"b", {std::string(job_bytes_limit, 'x')}};
    CHECK(!queue.jobs.check(huge, {.bytes_max = job_bytes_limit}));
    CHECK(queue.jobs.push(Job{"\u00fc \"\n", {"\u00fc", Value{}, 1.5, Value::Map{{"k", true}}}}));
    CHECK(queue.acquire().size() == 2);
}

TEST_CASE("a push with invalid settings is refused") {
    Queue queue;
    const auto refused = [&](const PushOptions& options) {
        const auto checked = queue.jobs.check(resize, options);
        REQUIRE(!checked);
        CHECK(queue.jobs.push(resize, options).error() == checked.error());
        return checked.error().context();
    };
    CHECK(refused({.expires = Duration{-1}}) == "expires: must not be negative");
    CHECK(refused({.run_at = due_at_max + Duration{1}}) ==
          "run_at: must not be before 1970, and must be less than 2^53 ms");
    CHECK(refused({.run_at = TimePoint{} - Duration{1}}).starts_with("run_at: "));
    CHECK(refused({.bytes_max = job_bytes_limit + 1}) == "bytes_max: must be at most 67108864");
    CHECK(queue.jobs.status().value() == QueueStatus{});
    CHECK(queue.jobs.push(resize, {.run_at = due_at_max, .bytes_max = job_bytes_limit}));
}

TEST_CASE("a job with an endless delay is due at the last instant") {
    Queue queue;
    const auto pushed = queue.jobs.push(resize, {.delay = Duration::max()}).value();
    CHECK(queue.jobs.find(pushed.id).value()->run_at == due_at_max);
}

TEST_CASE("nested arguments of a job are accepted up to the limit of the decoder, and no deeper") {
    Queue queue;
    Value nested = 1;
    for (std::size_t depth = 1; depth <= msgpack_depth_max; ++depth) {
        nested = Value::Array{nested};
        const Job job{"a", {nested}};
        const auto pushed = queue.jobs.push(job);
        REQUIRE(pushed.has_value() == decode_job(encode_job(job)).has_value());
        if (!pushed) CHECK(pushed.error().context() == "arguments: is nested too deep");
    }
}

TEST_CASE("a key is refused for pushes that are not unique by key") {
    Queue queue;
    for (const auto by : {Unique::By::job, Unique::By::nothing}) {
        const auto reply = queue.jobs.push(resize, {.unique = {.by = by, .key = "k"}});
        REQUIRE(!reply);
        CHECK(reply.error().code() == Errc::invalid);
        CHECK(reply.error().context().starts_with("unique.key: "));
    }
    CHECK(queue.jobs.status().value() == QueueStatus{});
}

TEST_CASE("a push whose reply is lost is repeated, alone or among many pushes") {
    MemoryStore memory;
    test::DisturbedStore store{memory};
    JobQueue jobs{store, "work"};
    store.lose_replies<PushJob>(2);
    std::vector<Result<Pushed>> replies;
    const std::vector<Job> many{{"a"}, {"b"}, {"c"}};
    SUBCASE("the call waits for its results") { replies = jobs.push_many(many); }
    SUBCASE("the call has a completion") {
        jobs.push_many(many, {}, [&](auto all) { replies = std::move(all); });
    }
    REQUIRE(replies.size() == 3);
    for (const auto& reply : replies) CHECK(reply.has_value());
    CHECK(jobs.status().value() == QueueStatus{.ready = 3});
    // A push in doubt stays in doubt when its repetition is refused.
    testing::FaultyStore faulty{memory};
    faulty.script({testing::Fault::lost_reply, testing::Fault::lost_request});
    JobQueue doubtful{faulty, "work"};
    CHECK(doubtful.push_many(std::vector<Job>{{"e"}}).at(0).error().code() == Errc::timed_out);
    // Repetitions are limited.
    store.lose_replies<PushJob>(100);
    CHECK(jobs.push_many(std::vector<Job>{{"d"}}).at(0).error().code() == Errc::timed_out);
}

TEST_CASE("every call of a queue also exists with a completion") {
    Queue queue;
    std::optional<Pushed> pushed;
    queue.jobs.push(resize, {}, [&](Result<Pushed> reply) { pushed = reply.value(); });
    CHECK(pushed.value() == PushOutcome::pushed);
    std::optional<QueueStatus> status;
    queue.jobs.status([&](Result<QueueStatus> reply) { status = reply.value(); });
    CHECK(status == QueueStatus{0, 1, 0});
}

TEST_CASE("many jobs are pushed in order, each with its own outcome") {
    Queue queue;
    const std::vector<Job> jobs{{"a"}, resize, {"b"}, resize};
    REQUIRE(queue.jobs.push(Job{"b"}).value() == PushOutcome::pushed);
    std::vector<Result<Pushed>> replies;
    SUBCASE("the call waits for its results") { replies = queue.jobs.push_many(jobs); }
    SUBCASE("the call has a completion") {
        queue.jobs.push_many(jobs, {}, [&](auto all) { replies = std::move(all); });
    }
    REQUIRE(replies.size() == 4);
    CHECK(replies[0].value() == PushOutcome::pushed);
    CHECK(replies[1].value() == PushOutcome::pushed);
    CHECK(replies[2].value() == PushOutcome::duplicate);
    CHECK(replies[3].value() == PushOutcome::duplicate);
    CHECK(queue.acquire() == std::vector<Job>{{"b"}, {"a"}, resize});
}

TEST_CASE("many jobs, or none, can be pushed for later") {
    Queue queue;
    const std::vector<Job> jobs{{"a"}, {"b"}};
    CHECK(queue.jobs.push_many(jobs, {.delay = Duration{10}}).size() == 2);
    CHECK(queue.jobs.status().value() == QueueStatus{2, 0, 0});
    CHECK(queue.jobs.push_many({}).empty());
    std::size_t replied = 7;
    queue.jobs.push_many({}, {}, [&](const auto& replies) { replied = replies.size(); });
    CHECK(replied == 0);
}
