#include <cstddef>
#include <memory>

#include "routemaster/job_queue.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

rm::JobQueue queue_of(Scenario& bus, const std::string& name) {
    return {bus.store, name, bus.clock};
}

std::string shown(const std::string& name, int ready, const char* paused, const char* since,
                  const char* limits = R"({"queue":null,"each_group":null})") {
    return R"({"queue":")" + name + R"(","scheduled":0,"ready":)" + std::to_string(ready) +
           R"(,"pending":0,"buried":0,"paused":)" + paused + R"(,"due_since":)" + since +
           R"(,"workers":0,"unprofiled":0,"worker_at":null,"rate_limits":)" + limits + "}";
}

}  // namespace

TEST_CASE("http api: queues are listed in pages, and shown separately") {
    Scenario bus;
    CHECK(bus.get("/v1/queues", root).body == "[]");
    for (const char* name : {"b", "a", "c"}) {
        CHECK(queue_of(bus, name).push(rm::Job{"x"}));
    }
    CHECK(queue_of(bus, "paused").pause());
    const auto since = std::to_string(rm::to_milliseconds(noon));
    const auto a = shown("a", 1, "false", since.c_str());
    const auto first = bus.get("/v1/queues?limit=2", root);
    CHECK(first.body == "[" + a + "," + shown("b", 1, "false", since.c_str()) + "]");
    CHECK(header(first, "Link") == R"(</v1/queues?after=b&limit=2>; rel="next")");
    const auto second = bus.get("/v1/queues?after=b&limit=2", root);
    CHECK(second.body == "[" + shown("c", 1, "false", since.c_str()) + "," +
                             shown("paused", 0, "true", "null") + "]");
    CHECK(header(second, "Link").empty());
    CHECK(bus.get("/v1/queues/a", root).body == a);
    CHECK(bus.get("/v1/queues/paused", root).body == shown("paused", 0, "true", "null"));
    for (const char* none : {"0", "aa", "abc", "zzz", "main", "aux"}) {
        CHECK(bus.get("/v1/queues/" + std::string{none}, root).body ==
              shown(none, 0, "false", "null"));
    }
    CHECK(bus.get("/v1/queues?limit=0", root).status == 400);
    CHECK(bus.get("/v1/queues/a:b", root).status == 400);
    for (const auto& user : {std::string{shop}, std::string{}}) {
        CHECK(bus.get("/v1/queues", user).status == 401);
        CHECK(bus.post("/v1/queues/a/pause", user, "").status == 401);
    }
}

TEST_CASE("http api: a queue is shown with its jobs in each state, and its workers") {
    Scenario bus;
    auto images = queue_of(bus, "images");
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
        CHECK(images.push(rm::Job{name}));
    }
    CHECK(images.push(rm::Job{"j"}, {.delay = rm::Duration{5'000}}));
    const rm::Uid worker{1, 1};
    const auto leases = done(bus.store, rm::AcquireJobs{"images", worker, 5}).leases;
    REQUIRE(leases.size() == 5);
    for (std::size_t i = 0; i < 2; ++i) {
        done(bus.store,
             rm::FailJob{.lease = leases[i], .error = "no", .run_at = noon, .bury = true});
    }
    rm::WorkerProfile profile{.name = "thumbs", .since = noon, .queues = {"images"}};
    done(bus.store, rm::Heartbeat{rm::Uid{1ULL << 60U, 1},
                                  std::make_shared<const rm::WorkerProfile>(profile), 0, noon});
    const auto now = std::to_string(rm::to_milliseconds(noon));
    const auto all =
        R"({"queue":"images","scheduled":1,"ready":4,"pending":3,"buried":2,"paused":false,)"
        R"("due_since":)" +
        now + R"(,"workers":1,"unprofiled":1,"worker_at":)" + now +
        R"(,"rate_limits":{"queue":null,"each_group":null}})";
    CHECK(bus.get("/v1/queues/images", root).body == all);
    CHECK(bus.get("/v1/queues", root).body == "[" + all + "]");
    const auto minute = std::to_string(rm::to_milliseconds(noon) / 60'000 * 60'000);
    CHECK(bus.get("/v1/queues/images/throughput", root)
              .body.starts_with(R"({"minutes":[{"from":)" + minute +
                                R"(,"done":0,"failed":2,"buried":2,"expired":0}],"hours":[{)"));
}

TEST_CASE("http api: a queue is paused and resumed") {
    Scenario bus;
    CHECK(queue_of(bus, "images").push(rm::Job{"x"}));
    for (int i = 0; i < 2; ++i) CHECK(bus.post("/v1/queues/images/pause", root, "").status == 204);
    const rm::AcquireJobs acquisition{"images", rm::Uid{1, 1}, 1};
    CHECK(done(bus.store, acquisition).leases.empty());
    for (int i = 0; i < 2; ++i) CHECK(bus.post("/v1/queues/images/resume", root, "").status == 204);
    CHECK(done(bus.store, acquisition).leases.size() == 1);
    refused(bus, request("POST", "/v1/queues/aux/pause", root), 400,
            "queue: aux belongs to Ruby Routemaster, whose jobs have no ids");
}

TEST_CASE("http api: rate limits of a queue can be set and removed") {
    Scenario bus;
    const std::string path = "/v1/queues/images/rate_limits";
    const auto put = [&](const std::string& body) {
        return bus.ask(request("PUT", path, root, body));
    };
    CHECK(put(R"({"queue":{"jobs":10},"each_group":{"jobs":1,"per":60000,"burst":3}})").status ==
          204);
    const auto* limits = R"({"queue":{"jobs":10,"per":1000,"burst":10},)"
                         R"("each_group":{"jobs":1,"per":60000,"burst":3}})";
    CHECK(bus.get("/v1/queues", root).body ==
          "[" + shown("images", 0, "false", "null", limits) + "]");
    CHECK(put(R"({"queue":null})").status == 204);
    CHECK(bus.get("/v1/queues", root).body == "[]");
    for (const auto& each : std::vector<std::pair<std::string, std::string>>{
             {R"({"rate":1})", R"(unknown field "rate")"},
             {R"({"queue":5})", "queue: must be an object with jobs"},
             {R"({"queue":{}})", "queue: jobs: is missing"},
             {R"({"queue":{"jobs":0}})", "queue: jobs: must be an integer from 1 to 1000000"},
             {R"({"each_group":{"jobs":1,"per":0}})",
              "each_group: per: must be an integer from 1 to 2678400000"},
             {R"({"queue":{"jobs":1,"burst":-1}})",
              "queue: burst: must be an integer from 1 to 1000000"},
             {R"({"queue":{"jobs":1,"burst":0}})",
              "queue: burst: must be an integer from 1 to 1000000"},
             {R"({"queue":{"jobs":1,"rate":1}})", R"(queue: unknown field "rate")"}}) {
        const auto& body = each.first;
        const auto& error = each.second;
        CAPTURE(body);
        refused(bus, request("PUT", path, root, body), 400, error);
    }
    refused(bus, request("PUT", "/v1/queues/aux/rate_limits", root, "{}"), 400,
            "queue: aux belongs to Ruby Routemaster, whose jobs have no ids");
    CHECK(bus.ask(request("PUT", path, shop, "{}")).status == 401);
}
