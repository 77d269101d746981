// The Python worker in examples/, on a running bus.

#include <doctest/doctest.h>

#include <string>

#include "support/await.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;

TEST_CASE("the Python example of an HTTP worker does jobs, and fails unknown jobs") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    test::Process worker{
        {"python3", ROUTEMASTER_SOURCE_DIR "/examples/http_worker.py", bus.url(), "images"},
        {{"ROUTEMASTER_ROOT_KEY", test::root_key}}};
    const auto push = [&](const std::string& body) {
        return bus.ask("POST", "/v1/queues/images/jobs", test::root_key, body).status;
    };
    const auto queue = [&] { return bus.ask("GET", "/v1/queues/images", test::root_key).body; };
    REQUIRE(push(R"({"name":"resize","arguments":["cat.png",64]})") == 200);
    CHECK(worker.line() == "resized cat.png to 64");
    REQUIRE(push(R"({"name":"resize","arguments":[1],"attempts_max":1})") == 200);
    REQUIRE(push(R"({"name":"unknown","attempts_max":1})") == 200);
    CHECK(test::await([&] { return queue().find(R"("buried":2)") != std::string::npos; }));
    CHECK(queue().starts_with(
        R"({"queue":"images","scheduled":0,"ready":0,"pending":0,"buried":2,)"));
    CHECK(bus.ask("GET", "/v1/queues/images/jobs/3", test::root_key).body.find("KeyError") !=
          std::string::npos);
}
