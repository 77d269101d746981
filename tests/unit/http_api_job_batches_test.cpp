#include <string>
#include <utility>

#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

const std::string batches_path = "/v1/job-batches";
const std::string import_body =
    R"({"name":"import","on_success":{"queue":"mail","name":"done","arguments":[7]},)"
    R"("on_end":{"queue":"images","name":"clean","attempts_max":3,"priority":1,"timeout":9,)"
    R"("metadata":{"tenant":"shop"}}})";

void create_refused(Scenario& bus, const std::string& body, const std::string& problem) {
    INFO(body);
    const auto answer = bus.post(batches_path, root, body);
    CHECK(answer.status == 400);
    CHECK(answer.body == problem);
    CHECK(done(bus.store, rm::ListJobBatches{}).batches.empty());
}

}  // namespace

TEST_CASE("http api: a batch of jobs is created, filled, closed, shown and removed") {
    Scenario bus;
    CHECK(bus.post(batches_path, root, import_body).body == R"({"id":1,"outcome":"created"})");
    CHECK(bus.post(batches_path, root, import_body).body == R"({"id":1,"outcome":"exists"})");
    CHECK(bus.post("/v1/queues/images/jobs", root, R"({"name":"a","batch":1})").status == 200);
    CHECK(bus.get("/v1/queues/images/jobs/1", root).body.find(R"("batch":1,)") !=
          std::string::npos);
    const auto at = std::to_string(rm::to_milliseconds(noon));
    const std::string shown =
        R"({"id":1,"name":"import","total":1,"pending":1,"succeeded":0,"buried":0,"cancelled":0,)"
        R"("expired":0,"forgotten":0,"created_at":)" +
        at +
        R"(,"closed_at":null,"ended_at":null,"succeeded_at":null,)"
        R"("on_success":{"queue":"mail","name":"done","arguments":[7],"attempts_max":25,)"
        R"("priority":0,"timeout":0,"metadata":{},"id":null},)"
        R"("on_end":{"queue":"images","name":"clean","arguments":[],"attempts_max":3,)"
        R"("priority":1,"timeout":9,"metadata":{"tenant":"shop"},"id":null}})";
    CHECK(bus.get(batches_path + "/1", root).body == shown);
    CHECK(bus.get(batches_path, root).body == "[" + shown + "]");
    CHECK(bus.post(batches_path + "/1/close", root, "").status == 204);
    CHECK(done(bus.store, rm::AcquireJobs{"images", rm::Uid{1, 1}}).leases.size() == 1);
    CHECK(bus.remove("/v1/queues/images/jobs/1", root).status == 409);
    CHECK(bus.get(batches_path + "?state=ended", root).body == "[]");
    CHECK(bus.remove(batches_path + "/1", root).status == 204);
    CHECK(bus.remove(batches_path + "/1", root).status == 404);
    CHECK(bus.get(batches_path + "/1", root).body == "batch not found");
}

TEST_CASE("http api: a batch of jobs counts how its jobs ended, and shows when it was closed") {
    Scenario bus;
    CHECK(bus.post(batches_path, root, R"({"name":"first"})").status == 200);
    CHECK(bus.post(batches_path, root, R"({"on_end":{"queue":"mail","name":"end"}})").body ==
          R"({"id":2,"outcome":"created"})");
    const std::string jobs_path = "/v1/queues/images/jobs";
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
        CHECK(bus.post(jobs_path, root, R"({"name":")" + std::string{name} + R"(","batch":2})")
                  .status == 200);
    }
    const auto leases = done(bus.store, rm::AcquireJobs{"images", rm::Uid{1, 1}, 4}).leases;
    REQUIRE(leases.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) done(bus.store, rm::AckJob{leases[i]});
    done(bus.store, rm::FailJob{.lease = leases[3], .error = "no", .run_at = noon, .bury = true});
    CHECK(bus.post(jobs_path + "/5/cancel", root, "").body == R"({"outcome":"cancelled"})");
    CHECK(bus.post(batches_path + "/2/close", root, "").status == 204);
    const auto now = std::to_string(rm::to_milliseconds(noon));
    const auto shown = bus.get(batches_path + "/2", root).body;
    CAPTURE(shown);
    CHECK(shown.find(R"("total":6,"pending":1,"succeeded":3,"buried":1,"cancelled":1,)"
                     R"("expired":0,"forgotten":0,"created_at":)" +
                     now + R"(,"closed_at":)" + now + R"(,"ended_at":null,)") != std::string::npos);
    CHECK(bus.get(batches_path + "?after=1", root).body == "[" + shown + "]");
}

TEST_CASE("http api: ended batches are listed separately, in pages") {
    Scenario bus;
    for (int n = 1; n <= 3; ++n) {
        CHECK(bus.post(batches_path, root, "{}").status == 200);
        CHECK(bus.post(batches_path + "/" + std::to_string(n) + "/close", root, "").status == 204);
    }
    CHECK(bus.get(batches_path, root).body == "[]");
    const auto page = bus.get(batches_path + "?state=ended&limit=2", root);
    CHECK(page.body.starts_with(R"([{"id":1,)"));
    CHECK(header(page, "Link") == R"(</v1/job-batches?state=ended&after=2&limit=2>; rel="next")");
    const auto last = bus.get(batches_path + "?state=ended&after=2&limit=2", root);
    CHECK(last.body.starts_with(R"([{"id":3,)"));
    CHECK(header(last, "Link").empty());
    CHECK(bus.get(batches_path + "?state=open", root).body == "state: must be running or ended");
    CHECK(bus.get(batches_path + "?after=x", root).body == "after: must be the id of a batch");
}

TEST_CASE("http api: an invalid batch of jobs is refused and changes nothing") {
    Scenario bus;
    create_refused(bus, R"({"name":""})",
                   "name: must not be empty; omit the field to get a generated name");
    create_refused(bus, R"({"name":7})", "name: requires a string");
    create_refused(bus, R"({"on_end":7})", "on_end: job: must be an object");
    create_refused(bus, R"({"on_end":{"name":"a"}})", "on_end: queue: is missing");
    create_refused(bus, R"({"on_success":{"queue":"a","name":"a","delay":1}})",
                   "on_success: delay: is not allowed in a callback of a batch");
    CHECK(bus.post(batches_path, root, R"({"jobs":[]})").status == 400);
    CHECK(bus.post(batches_path, shop, "{}").status == 401);
    CHECK(bus.post(batches_path + "/1/close", root, "").status == 404);
    CHECK(bus.post(batches_path + "/x/close", root, "").status == 404);
    CHECK(bus.post("/v1/queues/images/jobs", root, R"({"name":"a","batch":9})").body ==
          "batch: there is no batch 9");
    CHECK(bus.post("/v1/queues/images/jobs", root, R"({"name":"a","batch":0})").status == 400);
}
