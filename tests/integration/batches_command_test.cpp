// `routemaster batches`, on a running bus.

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

TEST_CASE("queued batches are listed, watched and dropped from the command line") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    REQUIRE(bus.subscribe("billing", R"(["orders"])", "http://127.0.0.1:1",
                          R"("timeout":3600000,"max":100)")
                .status == 204);
    REQUIRE(bus.publish("orders", "https://shop.example/1").status == 200);
    REQUIRE(bus.publish("orders", "https://shop.example/2").status == 200);
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const test::Process::Environment client{{"ROUTEMASTER_BUS", bus.url()},
                                            {"ROUTEMASTER_TOKEN", "billing"}};
    const auto batches = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "batches");
        return run(words, client);
    };
    const auto listed = batches({}).output;
    CHECK(listed.starts_with("BATCH                 EVENTS  AGE"));
    CHECK(listed.find("  scheduled (current)  0         59m ") != std::string::npos);
    const auto uid = listed.substr(listed.find('\n') + 1, 20);
    // A table shows ages, which change between two calls.
    CHECK(run({"batches", "--subscriber", "billing", "list", "--json"}, root).output ==
          batches({"list", "--json"}).output);
    const auto json = batches({"show", "--json", "--", uid}).output;
    CHECK(json.starts_with(R"({"uid":")" + uid + R"(","created_at":)"));
    CHECK(batches({"--json"}).output == json);

    test::Process watching{
        {test::routemaster_binary, "batches", "show", "--watch", "--interval", "0.01", "--", uid},
        client};
    // With the default interval this would take a minute.
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 30; ++i) {
        CHECK(watching.line().starts_with("BATCH "));
        CHECK(watching.line().starts_with(uid));
    }
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{30});
    watching.signal(SIGINT);
    CHECK(watching.wait() == 128 + SIGINT);

    CHECK(batches({"drop", "--", uid}).status == 0);
    CHECK(batches({"drop", "--", uid}).status == 1);
    CHECK(batches({"deliver", "--", uid}).status == 1);
    CHECK(batches({}).output == "BATCH  EVENTS  AGE  STATE  ATTEMPTS  DUE IN  ERROR\n");
    CHECK(batches({"drop", "--watch", "--", uid}).status == 2);
    CHECK(batches({"show"}).status == 2);
    CHECK(run({"batches", "--bus", bus.url()}).status == 2);
}

TEST_CASE("a watched list is requested again after the bus was down") {
    const test::TemporaryFolder folder;
    test::RunningBus bus{folder.path()};
    test::Process watching{
        {test::routemaster_binary, "queues", "--watch", "--interval", "0.01"},
        {{"ROUTEMASTER_BUS", bus.url()}, {"ROUTEMASTER_ROOT_KEY", test::root_key}}};
    CHECK(watching.line().starts_with("QUEUE "));
    CHECK(bus.stop() == 0);
    CHECK(watching.await_error(": unavailable\n"));
    watching.signal(SIGINT);
    CHECK(watching.wait() == 128 + SIGINT);
}
