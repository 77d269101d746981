/// @file
/// Defaults over HTTP are equal to defaults of the library. Each list of fields is complete: a
/// struct with a different number of fields does not compile here.

#include <utility>

#include "routemaster/action_timers.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/job_batches.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/job_queues.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/subscriber.hpp"
#include "routemaster/timer_listener_options.hpp"
#include "routemaster/timer_requests.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// The only job of the queue.
rm::JobStatus only_job(Scenario& bus, const std::string& queue) {
    for (const auto state : {rm::JobStatus::State::ready, rm::JobStatus::State::scheduled}) {
        auto jobs = done(bus.store, rm::ListJobs{queue, state}).jobs;
        if (!jobs.empty()) return std::move(jobs.at(0));
    }
    FAIL("no job in " << queue);
    return {};
}

/// Pushes a job with the library and a job over HTTP, and compares the results.
void check_pushes(const rm::PushOptions& options, const std::string& fields) {
    INFO(fields);
    Scenario bus;
    REQUIRE(rm::JobQueue{bus.store, "library", bus.clock}.push(rm::Job{"a"}, options));
    REQUIRE(bus.post("/v1/queues/http/jobs", root, R"({"name":"a")" + fields + "}").status == 200);
    auto library = only_job(bus, "library");
    auto http = only_job(bus, "http");
    if (options.unique.by == rm::Unique::By::nothing) {
        // The keys are random.
        CHECK(std::exchange(library.options.key.text, {}).size() == rm::Uid::length);
        CHECK(std::exchange(http.options.key.text, {}).size() == rm::Uid::length);
    }
    http.id = library.id;
    CHECK(http == library);
}

rm::RecurringSettings recurring(Scenario& bus, const std::string& name) {
    return rm::RecurringJobs{bus.store, bus.clock}.find(name).value().value().settings;
}

rm::HttpResponse put(Scenario& bus, const std::string& path, std::string body) {
    return bus.ask(request("PUT", path, root, std::move(body)));
}

}  // namespace

TEST_CASE("option defaults: a push over HTTP has the defaults of a push") {
    [[maybe_unused]] const auto& [delay, run_at, attempts_max, priority, timeout, expires, unique,
                                  metadata, group, concurrency, batch, after, idempotency_key,
                                  idempotency_time, bytes_max] = rm::PushOptions{};
    [[maybe_unused]] const auto& [by, key, scope, time, on_duplicate] = unique;
    check_pushes({}, {});
    CHECK(bytes_max == rm::HttpApiOptions{}.job_bytes_max);
    check_pushes({.delay = rm::Duration{5}}, R"(,"delay":5)");
    check_pushes({.group = "g"}, R"(,"group":"g")");
}

TEST_CASE("option defaults: the uniqueness of a push over HTTP has the defaults of a push") {
    using rm::KeyScope;
    using rm::Unique;
    check_pushes({.unique = {}}, R"(,"unique":true)");
    check_pushes({.unique = Unique::off()}, R"(,"unique":false)");
    check_pushes({.unique = Unique::by_key("k")}, R"(,"unique":{"key":"k"})");
    check_pushes({.unique = Unique::replace("k")},
                 R"(,"unique":{"key":"k","on_duplicate":"replace"})");
    check_pushes({.unique = Unique::debounce("k")},
                 R"(,"unique":{"key":"k","on_duplicate":"debounce"})");
    check_pushes({.unique = Unique::throttle("k", rm::Duration{9})},
                 R"(,"unique":{"key":"k","scope":"for_time","time":9})");
    auto until_done = Unique::debounce("k");
    until_done.scope = KeyScope::until_done;
    check_pushes({.unique = until_done},
                 R"(,"unique":{"key":"k","scope":"until_done","on_duplicate":"debounce"})");
}

TEST_CASE("option defaults: a debounced push during its job makes the job run once more") {
    Scenario bus;
    const auto push = [&bus](int number) {
        return bus
            .post("/v1/queues/images/jobs", root,
                  R"({"name":"a","arguments":[)" + std::to_string(number) +
                      R"(],"unique":{"key":"k","on_duplicate":"debounce"}})")
            .body;
    };
    CHECK(push(1) == R"({"id":1,"outcome":"pushed"})");
    CHECK(push(2) == R"({"id":1,"outcome":"replaced"})");
    REQUIRE(done(bus.store, rm::AcquireJobs{"images", rm::Uid{1, 1}, 1}).leases.size() == 1);
    CHECK(push(3) == R"({"id":2,"outcome":"pushed"})");
    CHECK(rm::decode_job(only_job(bus, "images").job).value().arguments.at(0) == rm::Value{3});
}

TEST_CASE("option defaults: a recurring job, timer or action has equal defaults over HTTP") {
    [[maybe_unused]] const auto& [schedule, time_zone, queue, job, catch_up, overlap, attempts_max,
                                  priority, timeout, expires, metadata, timer] =
        rm::RecurringSettings{};
    [[maybe_unused]] const auto& [space, payload, retries_max, confirm_within] =
        rm::RecurringTimer{};
    Scenario bus;
    const auto same = [&bus](const std::string& fields) {
        REQUIRE(
            put(bus, "/v1/recurring/http", R"({"schedule":"@every 5s",)" + fields + "}").status ==
            204);
        CHECK(recurring(bus, "http") == recurring(bus, "library"));
    };
    rm::RecurringJobs jobs{bus.store, bus.clock};
    REQUIRE(jobs.cron("library", "@every 5s", "images", rm::Job{"a"}));
    same(R"("queue":"images","job":{"name":"a"})");
    rm::Delayer timers{bus.store, "calls", bus.clock};
    REQUIRE(timers.cron("library", "@every 5s", rm::Value{7}));
    same(R"("timer":{"namespace":"calls","payload":7})");
    rm::ActionTimers actions{bus.store, bus.clock};
    REQUIRE(actions.cron("library", "@every 5s", rm::PushAction{"images", rm::Job{"a"}, {}}));
    same(R"("action":{"push":{"queue":"images","name":"a"}})");
}

TEST_CASE("option defaults: a timer has equal defaults over HTTP") {
    [[maybe_unused]] const auto& [id, retries_max, confirm_within] = rm::TimerOptions{};
    Scenario bus;
    rm::Delayer library{bus.store, "library", bus.clock};
    REQUIRE(library.post(rm::Value{7}, rm::Duration{5}, {.id = "t"}));
    REQUIRE(bus.post("/v1/timers/http", root, R"({"payload":7,"delay":5,"id":"t"})").status == 200);
    rm::Delayer http{bus.store, "http", bus.clock};
    CHECK(http.peek("t").value() == library.peek("t").value());
    CHECK(rm::TimerListenerOptions{}.confirm_within == rm::TimerRequest{}.confirm_within);
}

TEST_CASE("option defaults: a batch of jobs and its callbacks have equal defaults over HTTP") {
    [[maybe_unused]] const auto& [name, on_success, on_end] = rm::JobBatchSettings{};
    [[maybe_unused]] const auto& [queue, job, attempts_max, priority, timeout, metadata] =
        rm::JobBatchCallback{};
    Scenario bus;
    rm::JobBatches batches{bus.store, bus.clock};
    const rm::JobBatchCallback callback{"images", rm::encode_job({"a", {}})};
    const auto library =
        batches.create({.name = "library", .on_success = callback, .on_end = callback}).value().id;
    REQUIRE(bus.post("/v1/job-batches", root,
                     R"({"name":"http","on_success":{"queue":"images","name":"a"},)"
                     R"("on_end":{"queue":"images","name":"a"}})")
                .body == R"({"id":2,"outcome":"created"})");
    auto settings = batches.find(2).value().value().settings;
    settings.name = "library";
    CHECK(settings == batches.find(library).value().value().settings);
}

TEST_CASE("option defaults: a subscription has equal defaults over HTTP") {
    [[maybe_unused]] const auto& [callback, uuid, timeout, max_events, max_in_flight, attempts_max,
                                  age_max, dead_max] = rm::SubscribeOptions{};
    const std::string url = "https://billing.example/";
    Scenario bus;
    rm::Bus library{bus.store, {.clock = &bus.clock}};
    REQUIRE(library.subscriber("library").subscribe({"orders"}, {.callback = url}));
    REQUIRE(bus.post("/subscription", billing, R"({"topics":["orders"],"callback":")" + url + "\"}")
                .status == 204);
    const auto subscription = [&library](const std::string& token) {
        auto found = library.subscriber(token).status().value().value().subscription;
        found.token = {};
        return found;
    };
    CHECK(subscription(billing) == subscription("library"));
}

TEST_CASE("option defaults: rate limits have equal defaults over HTTP") {
    [[maybe_unused]] const auto& [queue, each_group] = rm::RateLimits{};
    [[maybe_unused]] const auto& [jobs, per, burst] = rm::RateLimit{};
    Scenario bus;
    const rm::RateLimit three{.jobs = 3};
    REQUIRE(rm::JobQueue{bus.store, "library", bus.clock}.limit_rate({three, three}));
    REQUIRE(
        put(bus, "/v1/queues/http/rate_limits", R"({"queue":{"jobs":3},"each_group":{"jobs":3}})")
            .status == 204);
    const auto queues = rm::JobQueues{bus.store, bus.clock}.list().value();
    REQUIRE(queues.size() == 2);
    CHECK(queues[0].limits == queues[1].limits);
}
