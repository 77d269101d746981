// `routemaster actions`, on a running bus that executes the actions.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/batch_receiver.hpp"
#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

namespace {

test::Process::Environment root_of(const test::RunningBus& bus) {
    return {{"ROUTEMASTER_BUS", bus.url()}, {"ROUTEMASTER_ROOT_KEY", test::root_key}};
}

}  // namespace

TEST_CASE("a timer can deliver an event to a webhook, with retries like any delivery") {
    const test::TemporaryFolder folder;
    test::RunningBus bus{folder.path()};
    test::BatchReceiver receiver;
    receiver.answer({503});
    REQUIRE(bus.subscribe("billing", R"(["refunds"])", receiver.url(), R"("timeout":0)").status ==
            204);
    // The action is posted before the bus is killed, and is executed after the next start.
    const auto posted = run({"actions", "deliver", "billing", "--url", "https://shop.example/1",
                             "--data", R"({"order":42})", "--delay", "2", "--id", "call"},
                            root_of(bus));
    CHECK(posted.output == "call posted\n");
    bus.kill();
    bus.start();
    REQUIRE(receiver.await_event("https://shop.example/1"));
    const auto deliveries = receiver.deliveries();
    CHECK(deliveries.size() >= 2);
    const auto& body = deliveries.back().request.body;
    CHECK(body.starts_with(
        R"([{"topic":"timers","type":"noop","url":"https://shop.example/1","t":)"));
    CHECK(body.find(R"("data":{"order":42})") != std::string::npos);
    CHECK(run({"timers", "list", "routemaster.actions", "--json"}, root_of(bus)).output.empty());
}

TEST_CASE("a job is pushed and an event is published at a later time from the command line") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url(), R"("timeout":0)").status ==
            204);
    const auto root = root_of(bus);
    const auto actions = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "actions");
        return run(words, root);
    };
    CHECK(actions({"push", "images", "resize", "[42]", "--options", R"({"priority":3})", "--delay",
                   "3600", "--id", "a"})
              .output == "a posted\n");
    CHECK(run({"timers", "show", "routemaster.actions", "a", "--json"}, root)
              .output.find(R"("payload":{"push":{"queue":"images","name":"resize",)"
                           R"("arguments":[42],"priority":3}})") != std::string::npos);
    CHECK(run({"timers", "postpone", "routemaster.actions", "a", "--delay", "0"}, root).status ==
          0);
    CHECK(actions({"publish", "orders", "--type", "create", "--url", "https://shop.example/1",
                   "--publisher", "shop"})
              .status == 0);
    REQUIRE(receiver.await_event("https://shop.example/1"));
    CHECK(bus.ask("GET", "/topics", test::root_key).body.find(R"("publisher":"shop")") !=
          std::string::npos);
    std::string jobs;
    for (int i = 0; i < 100 && jobs.empty(); ++i) {
        jobs = run({"jobs", "list", "images", "--json"}, root).output;
    }
    CHECK(jobs.find(R"("name":"resize")") != std::string::npos);

    // The reason of a failed action can be read.
    CHECK(
        actions({"deliver", "nobody", "--url", "https://shop.example/2", "--id", "lost"}).status ==
        0);
    std::string lost;
    for (int i = 0; i < 100 && lost.find("reason") == std::string::npos; ++i) {
        lost = run({"timers", "show", "routemaster.actions", "lost"}, root).output;
    }
    CHECK(lost.find("deliver: subscriber: does not exist") != std::string::npos);
    CHECK(run({"timers", "list", "routemaster.actions", "--state", "dead"}, root)
              .output.find("REASON") != std::string::npos);

    CHECK(actions({"push", "images", "resize", "--json", "--at", "4102444800000", "--id", "b"})
              .output == R"({"id":"b","outcome":"posted"})"
                         "\n");
    CHECK(run({"timers", "cancel", "routemaster.actions", "b"}, root).status == 0);
    CHECK(actions({"deliver", "billing", "--topic", "calls", "--type", "update", "--url",
                   "https://shop.example/3", "--delay", "3600", "--id", "c"})
              .status == 0);
    CHECK(run({"timers", "show", "routemaster.actions", "c", "--json"}, root)
              .output.find(R"("topic":"calls","type":"update")") != std::string::npos);
    CHECK(actions({"push", "images", "resize", "{"}).status == 2);
    CHECK(actions({"push", "im ages", "resize"}).status == 2);
    CHECK(actions({"deliver", "billing", "--data", "["}).status == 2);
    CHECK(actions({"push", "q", "n", "--delay", "1", "--at", "2"}).status == 2);
    // An empty text usually comes from an unset shell variable.
    CHECK(actions({"publish", "orders", "--type", "noop", "--url", "https://shop.example/1",
                   "--publisher", ""})
              .status == 2);
    CHECK(actions({"deliver", "billing", "--url", "https://shop.example/1", "--data", ""}).status ==
          2);
    CHECK(actions({"push", "images", "resize", ""}).status == 2);
    CHECK(actions({"push", "images", "resize", "--options", R"({"queue":"other"})"})
              .errors.find("'queue' must be given as an argument") != std::string::npos);
    CHECK(actions({"push", "images", "resize", "--delay", "nan"}).status == 2);
    const auto refused = actions({"deliver", "billing"});
    CHECK(refused.status == 1);
    CHECK(refused.errors.find("url") != std::string::npos);
}
