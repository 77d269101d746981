#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/api_tokens.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/timer_requests.hpp"
#include "support/hand_runner.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// A bus with limits that differ from the defaults, a leased job and a taken timer.
struct LimitScenario {
    LimitScenario() {
        REQUIRE(rm::ApiTokens(store, clock).put({"shop", "shop"}));
        rm::JobQueue{store, "images", clock}.push(rm::Job{"resize"}).value();
        rm::Delayer{store, "calls", clock}
            .post(rm::Value{1}, rm::Duration{0}, {.id = "a", .retries_max = 1})
            .value();
        lease = *taken("/v1/queues/images/lease", "jobs", "lease").get_if<std::string>();
        firing = *taken("/v1/timers/calls/take", "timers", "firing").get_if<std::int64_t>();
    }

    rm::HttpResponse post(const std::string& path, std::string body,
                          const std::string& user = root) {
        return send(request("POST", path, user, std::move(body)));
    }

    rm::HttpResponse send(rm::HttpRequest asked) {
        std::vector<rm::HttpResponse> answers;
        api.handle(std::move(asked),
                   [&](rm::HttpResponse answer) { answers.push_back(std::move(answer)); });
        leasing.run(clock.now());
        taking.run(clock.now());
        REQUIRE(answers.size() == 1);
        return answers.front();
    }

    /// Takes a job or a timer. Returns the field that identifies the lease or the firing.
    rm::Value taken(const std::string& path, std::string_view list, std::string_view name) {
        const auto answer = post(path, "{}");
        CAPTURE(answer.body);
        const auto payload = rm::parse_json(answer.body).value();
        const auto& all = *payload.find(list)->get_if<rm::Value::Array>();
        REQUIRE(all.size() == 1);
        return *all[0].find(name);
    }

    rm::HttpResponse acknowledge(const std::string& follow_ups) {
        return post("/v1/queues/images/jobs/1/ack",
                    R"({"lease":")" + lease + R"(",)" + follow_ups + "}");
    }
    rm::HttpResponse confirm(const std::string& follow_ups) {
        return post(
            "/v1/timers/calls/confirm",
            R"({"id":"a","retries":0,"firing":)" + std::to_string(firing) + "," + follow_ups + "}");
    }

    /// A job whose encoding has some 200 bytes; the fields of an event with 100 bytes of data.
    const std::string large_job = R"("name":"a","arguments":[")" + std::string(200, 'x') + R"("])";
    const std::string event = R"("type":"noop","url":"https://shop.example/")";
    const std::string large_event =
        event + R"(,"data":{"text":")" + std::string(100, 'x') + R"("})";

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore store;
    rm::JobLeases leases{store, {.seed = 1}};
    rm::TimerRequests timers{store};
    rm::HttpApi api{store,
                    {.root_key = root,
                     .event_data_max = 50,
                     .event_rules = {.topics = rm::TopicRule::ruby, .urls = rm::UrlRule::https},
                     .topics_max = 1,
                     .job_bytes_max = 100,
                     .clock = &clock,
                     .leases = &leases,
                     .timers = &timers}};
    rm::test::HandRunner leasing{leases};
    rm::test::HandRunner taking{timers};
    std::string lease;
    std::int64_t firing = 0;
};

/// Checks a response that refuses something for this reason.
void check_refused(const rm::HttpResponse& answer, std::string_view reason) {
    CAPTURE(answer.body);
    CHECK(answer.status >= 400);
    CHECK(answer.status < 500);
    CHECK(answer.body.find(reason) != std::string::npos);
}

}  // namespace

TEST_CASE("http api: every route that pushes a job applies the limit of the job's bytes") {
    LimitScenario bus;
    const std::string limit = "job: must have at most 100 bytes";
    const auto queued = R"({"queue":"mail",)" + bus.large_job + "}";
    const auto pushes = R"("pushes":[)" + queued + "]";
    check_refused(bus.post("/v1/queues/images/jobs", "{" + bus.large_job + "}"), limit);
    check_refused(bus.post("/v1/queues/images/jobs", "[{" + bus.large_job + "}]"), limit);
    check_refused(bus.post("/v1/actions", R"({"push":)" + queued + "}"), limit);
    check_refused(bus.acknowledge(pushes), limit);
    check_refused(bus.confirm(pushes), limit);
}

TEST_CASE("http api: every route that publishes an event applies the limit of the event's data") {
    LimitScenario bus;
    const std::string limit = "bytes of MessagePack, more than 50";
    const auto publication = R"({"topic":"orders",)" + bus.large_event + "}";
    const auto publications = R"("publications":[)" + publication + "]";
    check_refused(bus.post("/topics/orders", "{" + bus.large_event + "}", "shop"), limit);
    check_refused(bus.post("/v1/actions", R"({"publish":)" + publication + "}"), limit);
    check_refused(
        bus.post("/v1/actions", R"({"deliver":{"subscriber":"billing",)" + bus.large_event + "}}"),
        limit);
    check_refused(bus.acknowledge(publications), limit);
    check_refused(bus.confirm(publications), limit);
}

TEST_CASE("http api: every route that publishes an event applies the rules for events") {
    LimitScenario bus;
    const std::string rule = "must be 1 to 64 of a-z and _";
    const auto publication = R"({"topic":"orders2",)" + bus.event + "}";
    const auto publications = R"("publications":[)" + publication + "]";
    check_refused(bus.post("/topics/orders2", "{" + bus.event + "}", "shop"), rule);
    check_refused(bus.post("/v1/actions", R"({"publish":)" + publication + "}"), rule);
    check_refused(bus.acknowledge(publications), rule);
    check_refused(bus.confirm(publications), rule);
}

TEST_CASE("http api: every route that publishes an event applies the limit of topics") {
    LimitScenario bus;
    REQUIRE(bus.post("/topics/orders", "{" + bus.event + "}", "shop").status == 200);
    const auto publications =
        R"("publications":[{"topic":"refunds","publisher":"shop",)" + bus.event + "}]";
    check_refused(bus.post("/topics/refunds", "{" + bus.event + "}", "shop"),
                  "too many topics: at most 1 may");
    check_refused(bus.acknowledge(publications), "topic");
    check_refused(bus.confirm(publications), "topic");
}
