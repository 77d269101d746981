#include <memory>

#include "routemaster/api_tokens.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/job_queue.hpp"
#include "support/hand_runner.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

const std::string images_path = "/v1/queues/images";

/// A bus with job leases that the test polls.
struct LeaseScenario {
    LeaseScenario() { CHECK(images.push({"resize", {42}}, {.metadata = {{"trace", "t"}}})); }

    /// Sends a request. The response may come later.
    std::shared_ptr<std::vector<rm::HttpResponse>> send(const std::string& path, std::string body) {
        const auto answers = std::make_shared<std::vector<rm::HttpResponse>>();
        api.handle(request("POST", path, root, std::move(body)),
                   [answers](rm::HttpResponse answer) { answers->push_back(std::move(answer)); });
        run();
        return answers;
    }

    rm::HttpResponse post(const std::string& path, std::string body) {
        const auto answers = send(path, std::move(body));
        REQUIRE(answers->size() == 1);
        return answers->front();
    }

    void run() { runner.run(clock.now()); }

    void run_for(rm::Duration span) {
        const auto end = clock.now() + span;
        for (run(); runner.next() < end; run()) clock.set(runner.next());
        clock.set(end);
        run();
    }

    /// Leases the only job. Returns the text of its lease.
    std::string lease(const std::string& body = "{}") {
        const auto answer = rm::parse_json(post(images_path + "/lease", body).body).value();
        const auto& jobs = *answer.find("jobs")->get_if<rm::Value::Array>();
        REQUIRE(jobs.size() == 1);
        return *jobs[0].find("lease")->get_if<std::string>();
    }

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore store;
    rm::JobQueue images{store, "images", clock};
    rm::JobLeases leases{store, {.seed = 1}};
    rm::HttpApi api{store, {.root_key = root, .clock = &clock, .leases = &leases}};
    rm::test::HandRunner runner{leases};
};

std::string naming(const std::string& lease, const std::string& more = "") {
    return R"({"lease":")" + lease + '"' + more + "}";
}

}  // namespace

TEST_CASE("http api: a job is leased, extended and acknowledged") {
    LeaseScenario bus;
    const auto answer = bus.post(images_path + "/lease", R"({"worker":"w\"1","lease_time":5000})");
    CHECK(answer.status == 200);
    const auto until = rm::to_milliseconds(noon) + 5'000;
    CHECK(answer.body.starts_with(
        R"({"worker":"w\"1","jobs":[{"id":1,"name":"resize","arguments":[42],"lease":")"));
    CHECK(answer.body.ends_with(
        R"(","until":)" + std::to_string(until) +
        R"(,"attempt":1,"timeout":0,"metadata":{"trace":"t"},"batch":null}]})"));
    const auto at = answer.body.find(R"("lease":")") + 9;
    const auto lease = answer.body.substr(at, answer.body.find('"', at) - at);
    bus.clock.advance(rm::Duration{1'000});
    CHECK(bus.post(images_path + "/jobs/1/extend", naming(lease)).body ==
          R"({"until":)" + std::to_string(until + 1'000) + R"(,"cancelled":false})");
    CHECK(bus.post(images_path + "/jobs/1/extend", naming(lease, R"(,"lease_time":60000)")).body ==
          R"({"until":)" + std::to_string(until + 56'000) + R"(,"cancelled":false})");
    CHECK(bus.post(images_path + "/jobs/2/ack", naming(lease)).status == 409);
    CHECK(bus.post(images_path + "/jobs/1/ack", naming(lease)).status == 204);
    CHECK(bus.post(images_path + "/jobs/1/ack", naming(lease)).status == 409);
    CHECK(bus.images.status().value() == rm::QueueStatus{});
}

TEST_CASE("http api: a request leases as many jobs as its limit says, each with its settings") {
    LeaseScenario bus;
    for (const char* name : {"crop", "turn"}) {
        CHECK(bus.post(images_path + "/jobs",
                       R"({"name":")" + std::string{name} + R"(","timeout":700})")
                  .status == 200);
    }
    const auto answer = bus.post(images_path + "/lease", R"({"worker":"w","limit":2})");
    CHECK(bus.images.status().value() == rm::QueueStatus{.ready = 1, .pending = 2});
    CHECK(answer.body.find(R"({"id":2,"name":"crop","arguments":[],"lease":")") !=
          std::string::npos);
    CHECK(answer.body.ends_with(R"(,"attempt":1,"timeout":700,"metadata":{},"batch":null}]})"));
}

TEST_CASE("http api: a worker names the kinds of jobs that it can run") {
    LeaseScenario bus;
    bus.lease(R"({"worker":"w","handlers":["resize","crop"]})");
    bus.run_for(rm::Duration{10'000});
    const auto listed =
        [&] {
            std::vector<rm::HttpResponse> answers;
            bus.api.handle(request("GET", "/v1/workers", root),
                           [&](rm::HttpResponse given) { answers.push_back(std::move(given)); });
            return answers.at(0);
        }()
            .body;
    CAPTURE(listed);
    CHECK(listed.find(R"("queues":["images"],"handlers":["crop","resize"],"handlers_total":2,)"
                      R"("others":"refused",)") != std::string::npos);
}

TEST_CASE("http api: the response to a worker's heartbeat reports a cancelled job") {
    LeaseScenario bus;
    const auto lease = bus.lease();
    CHECK(bus.post(images_path + "/jobs/1/cancel", "").body == R"({"outcome":"requested"})");
    bus.run_for(rm::Duration{10'000});
    CHECK(bus.post(images_path + "/jobs/1/extend", naming(lease))
              .body.ends_with(R"("cancelled":true})"));
}

TEST_CASE("http api: a failed job runs again after the wait that its worker set") {
    LeaseScenario bus;
    const auto runs_at = [&] { return bus.images.find(1).value().value().run_at; };
    CHECK(bus.post(images_path + "/jobs/1/release", naming(bus.lease(), R"(,"retry_after":9000)"))
              .status == 204);
    CHECK(bus.images.status().value() == rm::QueueStatus{.scheduled = 1});
    CHECK(runs_at() == noon + rm::Duration{9'000});
    bus.clock.advance(rm::Duration{9'000});
    CHECK(bus.post(images_path + "/jobs/1/nack", naming(bus.lease(), R"(,"retry_after":90000)"))
              .status == 200);
    CHECK(runs_at() == noon + rm::Duration{99'000});
}

TEST_CASE("http api: the arguments of a job are returned as pushed") {
    LeaseScenario bus;
    bus.lease();
    const std::string arguments =
        R"([-0.0,0.0,0.30000000000000004,5e-324,-9007199254740993,18446744073709551615,"é\u0000"])";
    REQUIRE(
        bus.post(images_path + "/jobs", R"({"name":"a","arguments":)" + arguments + "}").status ==
        200);
    CHECK(bus.post(images_path + "/lease", "{}").body.find(R"("arguments":)" + arguments + ",") !=
          std::string::npos);
}

TEST_CASE("http api: a lease names the batch of its job") {
    LeaseScenario bus;
    CHECK(bus.post(images_path + "/lease", "{}").body.ends_with(R"(,"batch":null}]})"));
    CHECK(bus.post("/v1/job-batches", "{}").body == R"({"id":1,"outcome":"created"})");
    CHECK(bus.post(images_path + "/jobs", R"({"name":"a","batch":1})").status == 200);
    CHECK(bus.post(images_path + "/lease", "{}").body.ends_with(R"(,"batch":1}]})"));
}

TEST_CASE("http api: a worker that sends no name gets a generated name") {
    LeaseScenario bus;
    const auto answer = rm::parse_json(bus.post(images_path + "/lease", "{}").body).value();
    CHECK(answer.find("worker")->get_if<std::string>()->size() == 20);
}

TEST_CASE("http api: a leased job is nacked, buried and released") {
    LeaseScenario bus;
    CHECK(bus.post(images_path + "/jobs/1/release", naming(bus.lease())).status == 204);
    CHECK(bus.post(images_path + "/jobs/1/nack",
                   naming(bus.lease(), R"(,"error":"no","retry_after":0)"))
              .body == R"({"buried":false})");
    const auto status = bus.images.find(1).value().value();
    CHECK(status.errors.at(0).text == "no");
    CHECK(status.attempts == 1);
    CHECK(bus.post(images_path + "/jobs/1/nack", naming(bus.lease(), R"(,"bury":true)")).body ==
          R"({"buried":true})");
    CHECK(bus.images.status().value() == rm::QueueStatus{.buried = 1});
}

TEST_CASE("http api: a request for jobs waits, and a settlement after the lease expired gets 409") {
    LeaseScenario bus;
    const auto zombie = bus.lease(R"({"lease_time":1000})");
    const auto waiting = bus.send(images_path + "/lease", R"({"wait":30000})");
    CHECK(waiting->empty());
    bus.run_for(rm::Duration{1'000});
    REQUIRE(waiting->size() == 1);
    CHECK(waiting->front().body.find(R"("attempt":2)") != std::string::npos);
    for (const std::string verb : {"ack", "nack", "release", "extend"}) {
        const auto answer = bus.post(images_path + "/jobs/1/" + verb, naming(zombie));
        CHECK(answer.status == 409);
        CHECK(answer.body == "the lease is lost");
    }
    CHECK(bus.images.status().value() == rm::QueueStatus{.pending = 1});
    const auto none = bus.send(images_path + "/lease", R"({"wait":2000})");
    bus.run_for(rm::Duration{2'000});
    REQUIRE(none->size() == 1);
    CHECK(none->front().body.ends_with(R"(,"jobs":[]})"));
}

TEST_CASE("http api: invalid requests about leases are refused, and change nothing") {
    LeaseScenario bus;
    const auto lease = bus.lease();
    const auto refused = [&](const std::string& path, const std::string& body,
                             const std::string& problem) {
        INFO(path << " " << body);
        const auto answer = bus.post(images_path + path, body);
        CHECK(answer.status == 400);
        CHECK(answer.body == problem);
        CHECK(bus.images.status().value() == rm::QueueStatus{.pending = 1});
    };
    refused("/lease", "[]", "JSON: must be an object");
    for (const char* handlers : {R"("resize")", "[1]"}) {
        refused("/lease", R"({"handlers":)" + std::string{handlers} + "}",
                "handlers: must be an array of strings");
    }
    refused("/lease", R"({"handlers":[""]})",
            "handlers: must be at most 100 names of 1 to 255 bytes");
    refused("/lease", R"({"limit":101})", "limit: must be an integer from 1 to 100");
    refused("/lease", R"({"limit":"1"})", "limit: must be an integer from 1 to 100");
    refused("/lease", R"({"wait":30001})", "wait: must be an integer from 0 to 30000");
    refused("/lease", R"({"wait":1e99})", "wait: must be an integer from 0 to 30000");
    refused("/lease", R"({"lease_time":999})",
            "lease_time: must be an integer from 1000 to 3600000");
    refused("/lease", R"({"worker":""})", "worker: must be a string of 1 to 64 bytes");
    refused("/lease", R"({"worker":7})", "worker: must be a string of 1 to 64 bytes");
    refused("/lease", R"({"queue":"x"})", R"(unknown field "queue")");
    refused("/jobs/1/ack", "{}", "lease: requires a string");
    refused("/jobs/1/ack", naming("x"), "lease: is not a lease of this job");
    refused("/jobs/1/ack", naming(lease + "x"), "lease: is not a lease of this job");
    refused("/jobs/x/ack", naming(lease), "lease: is not a lease of this job");
    refused("/jobs/1/ack", naming(lease, R"(,"error":"x")"), R"(unknown field "error")");
    refused("/jobs/1/nack", naming(lease, R"(,"error":7)"), "error: requires a string");
    refused("/jobs/1/nack", naming(lease, R"(,"bury":1)"), "bury: must be true or false");
    refused("/jobs/1/nack", naming(lease, R"(,"retry_after":-1)"),
            "retry_after: must be an integer from 0 to 31536000000");
    refused("/jobs/1/extend", naming(lease, R"(,"lease_time":1)"),
            "lease_time: must be an integer from 1000 to 3600000");
    CHECK(bus.post("/v1/queues/main/lease", "{}").status == 400);
    CHECK(bus.post("/v1/queues/aux/jobs/1/ack", naming(lease)).status == 400);
    CHECK(bus.post(images_path + "/jobs/1/ack", naming(lease)).status == 204);
}

TEST_CASE("http api: an ack of a job can add follow-up jobs and events") {
    LeaseScenario bus;
    rm::Bus events{bus.store, {.clock = &bus.clock}};
    REQUIRE(events.subscriber("billing").subscribe(
        {"orders", "mine"}, {.callback = "https://billing.example/", .timeout = rm::Duration{0}}));
    REQUIRE(rm::ApiTokens(bus.store, bus.clock).put({"shop--1", "shop"}));
    const auto lease = bus.lease();
    const auto ack = images_path + "/jobs/1/ack";
    const auto answer =
        bus.post(ack, naming(lease, R"(,"pushes":[{"queue":"mail","name":"welcome","arguments":[1]},
            {"queue":"images","name":"later","delay":60000,"unique":{"key":"k"}}],
            "publications":[{"topic":"orders","type":"update","url":"https://shop.example/1"},
            {"topic":"mine","type":"noop","url":"https://shop.example/2",
             "publisher":"shop--1"}])"));
    CAPTURE(answer.body);
    CHECK(answer.status == 204);
    CHECK(bus.images.status().value() == rm::QueueStatus{.scheduled = 1});
    CHECK(bus.images.find(3).value().value().options.key.text == "k");
    rm::JobQueue mail{bus.store, "mail", bus.clock};
    CHECK(mail.status().value() == rm::QueueStatus{.ready = 1});
    CHECK(rm::decode_job(mail.find(2).value().value().job).value().arguments ==
          rm::Value::Array{1});
    CHECK(events.subscriber("billing").status().value()->events_queued == 2);
    const auto topics = events.topics().value();
    REQUIRE(topics.size() == 2);
    CHECK(topics[0].publisher == "shop--1");
    CHECK(!topics[1].publisher);
    CHECK(bus.post(ack, naming(lease, R"(,"pushes":[{"queue":"mail","name":"again"}])")).status ==
          409);
    CHECK(rm::JobQueue(bus.store, "mail").status().value() == rm::QueueStatus{.ready = 1});
}

TEST_CASE("http api: an ack of a job can add follow-up timers") {
    LeaseScenario bus;
    const auto lease = bus.lease();
    const auto ack = images_path + "/jobs/1/ack";
    CHECK(bus.post(ack, naming(lease, R"(,"timers":[{"namespace":"no space","payload":1}])"))
              .status == 400);
    CHECK(bus.post(ack, naming(lease,
                               R"(,"timers":[{"namespace":"calls","payload":1,"id":"a",
                                   "delay":50,"retries_max":2}])"))
              .status == 204);
    const auto found = rm::Delayer(bus.store, "calls").peek("a").value();
    REQUIRE(found);
    CHECK(found->at == noon + rm::Duration{50});
    CHECK(found->retries_max == 2);
}

TEST_CASE("http api: an error about a follow-up job names the field, and the lease stays valid") {
    LeaseScenario bus;
    rm::Bus shop{bus.store, {.publisher = "shop", .clock = &bus.clock}};
    REQUIRE(shop.publish({.topic = "orders",
                          .type = rm::EventType::update,
                          .url = "https://shop.example/orders/1"}));
    const auto lease = bus.lease();
    const auto ack = images_path + "/jobs/1/ack";
    const auto refused = [&](const std::string& more, int status, const std::string& why) {
        const auto answer = bus.post(ack, naming(lease, "," + more));
        CAPTURE(answer.body);
        CHECK(answer.status == status);
        CHECK(answer.body.find(why) != std::string::npos);
    };
    refused(R"("pushes":{})", 400, "pushes: must be an array");
    refused(R"("pushes":[7])", 400, "pushes[0]: job: must be an object");
    refused(R"("pushes":[{"name":"a"}])", 400, "pushes[0]: queue: is missing");
    refused(R"("pushes":[{"queue":"main","name":"a"}])", 400, "pushes[0]: queue: main is");
    refused(R"("pushes":[{"queue":"q","name":"a"},{"queue":"q"}])", 400, "pushes[1]: name: is");
    refused(R"("pushes":[{"queue":"q","name":"a","often":1}])", 400, "unknown field");
    refused(R"("publications":[{"type":"noop"}])", 400, "publications[0]: topic: is missing");
    refused(R"("publications":[{"topic":"a","type":"b","url":"https://a.example/"}])", 400,
            "publications[0]: type: must be");
    refused(R"("publications":[{"topic":"a","type":"noop","url":"ftp://a"}])", 400,
            "publications[0]: url:");
    const std::string event = R"("type":"noop","url":"https://a.example/")";
    refused(R"("publications":[{"topic":"orders",)" + event + "}]", 403,
            "publications[0]: topic: belongs to another");
    refused(R"("publications":[{"topic":"a",)" + event + R"(,"publisher":"no-token"}])", 403,
            "publications[0]: publisher: is not a valid token");
    CHECK(bus.images.status().value() == rm::QueueStatus{.pending = 1});
    CHECK(bus.post(images_path + "/jobs/1/nack", naming(lease, R"(,"pushes":[])")).status == 400);
    CHECK(bus.post(ack, naming(lease, R"(,"pushes":[],"publications":null)")).status == 204);
    CHECK(bus.images.status().value() == rm::QueueStatus{});
}
