#include <memory>

#include "routemaster/job_queue.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

TEST_CASE("http api: workers are listed in pages, with their leases") {
    Scenario bus;
    CHECK(bus.get("/v1/workers", root).body == "[]");
    rm::JobQueue images{bus.store, "images", bus.clock};
    CHECK(images.push(rm::Job{"resize \"x\"", {1}}));
    CHECK(images.push(rm::Job{"crop"}));
    const rm::Uid first{0, 1};
    const rm::Uid second{1ULL << 60U, 1};
    const std::string a{first.text()};
    const std::string b{second.text()};
    CHECK(done(bus.store, rm::AcquireJobs{"images", first, 2}).leases.size() == 2);
    rm::WorkerProfile profile{.name = "thumbs-1:7",
                              .host = "thumbs-1",
                              .process = 7,
                              .since = noon,
                              .queues = {"images"},
                              .others = rm::WorkerProfile::Others::handled,
                              .capacity = 8};
    profile.list_handlers({"resize", "crop \"x\""});
    done(bus.store,
         rm::Heartbeat{second, std::make_shared<const rm::WorkerProfile>(profile), 3, noon});
    CHECK(images.cancel(2).value() == rm::Cancellation::requested);
    const auto now = std::to_string(rm::to_milliseconds(noon));
    const auto idle =
        R"([{"worker":")" + b + R"(","seen_at":)" + now +
        R"(,"profile":{"name":"thumbs-1:7","host":"thumbs-1","process":7,"since":)" + now +
        R"(,"queues":["images"],"handlers":["crop \"x\"","resize"],"handlers_total":2,)"
        R"("others":"handled","capacity":8,"busy":3},"leased":0,"jobs":[]}])";
    const auto page = bus.get("/v1/workers?limit=1", root);
    CHECK(
        page.body ==
        R"([{"worker":")" + a + R"(","seen_at":)" + now +
            R"(,"profile":null,"leased":2,"jobs":[{"queue":"images","id":1,"name":"resize \"x\"",)"
            R"("attempt":1,"since":)" +
            now +
            R"(,"cancelled":false},{"queue":"images","id":2,"name":"crop",)"
            R"("attempt":1,"since":null,"cancelled":true}]}])");
    CHECK(header(page, "Link") == "</v1/workers?after=" + a + R"(&limit=1>; rel="next")");
    CHECK(bus.get("/v1/workers?after=" + a, root).body == idle);
    CHECK(bus.get("/v1/workers?limit=1000", root).status == 200);
    CHECK(bus.get("/v1/workers", shop).status == 401);
}
