#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// Makes three queued batches of one event each for `billing`. The first batch has failed once.
/// Returns their ids.
std::vector<std::string> three_queued(Scenario& bus) {
    CHECK(bus.post("/subscription", billing,
                   R"({"topics":["orders"],"callback":"https://b.example","timeout":0,"max":1})")
              .status == 204);
    for (int i = 0; i < 3; ++i) {
        CHECK(bus.post("/topics/orders", shop,
                       R"({"type":"update","url":"https://shop.example/1","timestamp":7})")
                  .status == 200);
    }
    const auto now = bus.clock.now();  // Noon.
    const auto lease =
        done(bus.store, rm::AcquireJobs{rm::delivery_queue, rm::Uid{1, 1}, 1}).leases.at(0);
    done(bus.store, rm::BeginDelivery{lease, rm::Duration{0}});
    const rm::SettleDelivery step{.lease = lease,
                                  .begun_at = now,
                                  .retry_at = now + rm::Duration{9'000},
                                  .error = "HTTP \"500\""};
    CHECK(done(bus.store, step) == rm::Settlement::settled);
    std::vector<std::string> ids;
    for (const auto& batch : done(bus.store, rm::ListBatches{.token = billing})) {
        ids.emplace_back(batch.status.uid.text());
    }
    return ids;
}

std::string queued_entry(const std::string& id, const std::string& rest) {
    const auto at = std::to_string(rm::to_milliseconds(noon));
    return R"({"uid":")" + id + R"(","created_at":)" + at + "," + rest + "}";
}

std::string first_entry(const std::string& id) {
    return queued_entry(id, R"("attempts":1,"event_count":1,"current":false,"state":"scheduled",)"
                            R"("run_at":)" +
                                std::to_string(rm::to_milliseconds(noon) + 9'000) +
                                R"(,"error":"HTTP \"500\"")");
}

std::string other_entry(const std::string& id) {
    return queued_entry(id, R"("attempts":0,"event_count":1,"current":false,"state":"ready",)"
                            R"("run_at":null,"error":null)");
}

const std::string own_batches = "/v1/subscriber/batches";
const std::string batches_of_billing = std::string{"/v1/subscribers/"} + billing + "/batches";

}  // namespace

TEST_CASE("http api: queued batches are listed in pages, to their subscriber and to root") {
    Scenario bus;
    CHECK(bus.get(own_batches, billing).body == "[]");
    refused(bus, request("GET", batches_of_billing, root), 404, "subscriber not found");
    const auto ids = three_queued(bus);
    REQUIRE(ids.size() == 3);
    const auto page = bus.get(own_batches + "?limit=2", billing);
    CHECK(page.status == 200);
    CHECK(page.content_type == "application/json");
    CHECK(page.body == "[" + first_entry(ids[0]) + "," + other_entry(ids[1]) + "]");
    CHECK(header(page, "Link") ==
          "<" + own_batches + "?after=" + ids[1] + "&limit=2>; rel=\"next\"");
    const auto rest = bus.get(batches_of_billing + "?after=" + ids[1], root);
    CHECK(rest.body == "[" + other_entry(ids[2]) + "]");
    CHECK(header(rest, "Link").empty());
    CHECK(bus.get(own_batches, shop).body == "[]");
    CHECK(bus.get(own_batches + "/" + ids[0], billing).body == first_entry(ids[0]));
    CHECK(bus.get(batches_of_billing + "/" + ids[2], root).body == other_entry(ids[2]));
    refused(bus, request("GET", own_batches + "?after=x", billing), 400,
            "after: must be the uid of a queued batch");
    refused(bus, request("GET", own_batches + "?limit=0", billing), 400,
            "limit: must be an integer from 1 to 1000");
    refused(bus, request("GET", own_batches + "?after=" + ids[1], shop), 400,
            "after: is not a queued batch of the subscriber");
}

TEST_CASE("http api: a queued batch can be delivered at once, or dropped") {
    Scenario bus;
    const auto ids = three_queued(bus);
    CHECK(bus.post(own_batches + "/" + ids[0] + "/deliver", billing, "").status == 204);
    CHECK(bus.get(own_batches + "/" + ids[0], billing).body.find(R"("state":"ready")") !=
          std::string::npos);
    CHECK(bus.post(batches_of_billing + "/" + ids[1] + "/deliver", root, "").status == 204);
    CHECK(bus.remove(own_batches + "/" + ids[1], billing).status == 204);
    CHECK(bus.remove(batches_of_billing + "/" + ids[2], root).status == 204);
    CHECK(done(bus.store, rm::ListBatches{.token = billing}).size() == 1);
    const auto leased = done(bus.store, rm::AcquireJobs{rm::delivery_queue, rm::Uid{1, 1}, 9});
    REQUIRE(leased.leases.size() == 1);
    refused(bus, request("DELETE", own_batches + "/" + ids[0], billing), 409,
            "the batch is being delivered");
    refused(bus, request("POST", own_batches + "/" + ids[0] + "/deliver", billing), 409,
            "the batch is being delivered");
}

TEST_CASE("http api: only its subscriber and root can access a queued batch") {
    Scenario bus;
    const auto ids = three_queued(bus);
    for (const auto& path : {own_batches + "/" + ids[1], own_batches + "/x",
                             own_batches + "/" + std::string(20, 'A')}) {
        CAPTURE(path);
        refused(bus, request("GET", path, shop), 404, "batch not found");
        refused(bus, request("POST", path + "/deliver", shop), 404, "batch not found");
        refused(bus, request("DELETE", path, shop), 404, "batch not found");
    }
    CHECK(bus.get(batches_of_billing, billing).status == 401);
    CHECK(bus.get(own_batches, root).status == 401);
    CHECK(bus.remove(batches_of_billing + "/" + ids[1], shop).status == 401);
    CHECK(done(bus.store, rm::ListBatches{.token = billing}).size() == 3);
}

TEST_CASE("http api: a queued batch gives the reason for its wait") {
    Scenario bus;
    const auto ids = three_queued(bus);
    const auto explanation = [&](const std::string& id) {
        return bus.get("/v1/subscriber/batches/" + id + "/explanation", billing);
    };
    const auto answer = explanation(ids[1]);
    CHECK(answer.body.starts_with(R"({"text":"batch )" + ids[0] +
                                  R"( of its subscriber is before it","before":")" + ids[0] +
                                  R"(","workers":{"workers":0,"handling":0,)"));
    CHECK(answer.body.ends_with(R"(,"batch":)" + other_entry(ids[1]) + "}"));
    CHECK(explanation(ids[0]).body.starts_with(
        R"({"text":"it waits for its next attempt; the last attempt failed: HTTP \"500\"",)"
        R"("before":null,)"));
    CHECK(bus.get("/v1/subscribers/" + std::string{billing} + "/batches/" + ids[1] + "/explanation",
                  root)
              .body == answer.body);
    CHECK(explanation("x").status == 404);
    CHECK(explanation(std::string{rm::Uid{1, 1}.text()}).status == 404);
}
