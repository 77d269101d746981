// `routemaster timers`, on a running bus.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/codec/json.hpp"
#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

TEST_CASE("timers are posted, shown, taken, confirmed and cancelled from the command line") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto timers = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "timers");
        return run(words, root);
    };
    CHECK(timers({"post", "calls", R"({"to":"Ada"})", "--delay", "3600", "--id", "a/1"}).output ==
          "a/1 posted\n");
    CHECK(timers({"post", "calls", "[1]", "--at", "4102444800000", "--id", "a/1"}).output ==
          "a/1 replaced\n");
    for (const auto& id : {std::string{}, std::string{"\xff"}}) {
        CHECK(timers({"post", "calls", "1", "--id", id}).status == 2);
    }
    for (const auto& word : {"nan", "inf", "-1", "soon"}) {
        const auto refused = timers({"post", "calls", "1", "--delay", word});
        CHECK(refused.status == 2);
        CHECK(refused.errors.find("--delay: ") != std::string::npos);
    }
    const auto shown = timers({"show", "calls", "a/1", "--json"}).output;
    CHECK(shown == R"({"id":"a/1","state":"pending","at":4102444800000,"retries":0,)"
                   R"("retries_max":0,"payload":[1]})"
                   "\n");
    CHECK(timers({"show", "calls", "a/1"}).output.find("2100-01-01T00:00:00Z") !=
          std::string::npos);
    CHECK(timers({"list", "calls", "--json"}).output == shown);
    CHECK(timers({"list", "calls"}).output.starts_with("ID   STATE    AT"));
    CHECK(timers({"list", "calls", "--state", "dead"}).output.find("a/1") == std::string::npos);

    for (const char* id : {"x", "y", "z"}) {
        CHECK(timers({"post", "bells", "1", "--id", id}).status == 0);
    }
    const auto lines = [](const test::Ended& ended) {
        return std::count(ended.output.begin(), ended.output.end(), '\n');
    };
    CHECK(lines(timers({"list", "bells", "--limit", "2", "--json"})) == 2);
    CHECK(lines(timers({"take", "bells", "--limit", "3", "--wait", "10"})) == 3);
    CHECK(timers({"post", "bells", "1", "--id", "again", "--retries-max", "1"}).status == 0);
    CHECK(lines(timers({"take", "bells", "--wait", "10", "--confirm-within", "600"})) == 1);
    const auto fired = parse_json(timers({"show", "bells", "again", "--json"}).output).value();
    const auto in_a_minute = to_milliseconds(system_clock().now() + Duration{60'000});
    CHECK(*fired.find("at")->get_if<std::int64_t>() > in_a_minute);
    CHECK(timers({"confirm", "bells", "again", "--retries", "1"}).status == 1);
    CHECK(timers({"confirm", "bells", "again", "--retries", "0"}).status == 0);

    CHECK(timers({"post", "bells", "1", "--id", "soon", "--delay", "1"}).status == 0);
    CHECK(lines(timers({"take", "bells", "--wait", "30"})) == 1);

    CHECK(timers({"post", "calls", "7", "--id", "due", "--retries-max", "1"}).status == 0);
    const auto taken = timers({"take", "calls", "--wait", "10"}).output;
    CHECK(taken.starts_with(R"({"id":"due","payload":7,)"));
    CHECK(timers({"stats", "calls", "--json"})
              .output.starts_with(R"({"pending":1,"fired":1,"dead":0,)"));
    CHECK(timers({"stats", "calls"}).output.starts_with("NAMESPACE  PENDING  FIRED  DEAD"));
    CHECK(timers({"confirm", "calls", "due", "--retries", "0"}).status == 0);
    const auto late = timers({"confirm", "calls", "due"});
    CHECK(late.status == 1);
    CHECK(late.errors.find("no such firing awaits") != std::string::npos);

    CHECK(timers({"post", "calls", "8", "--id", "dies", "--retries-max", "1", "--confirm-within",
                  "0.001"})
              .status == 0);
    std::string stats;
    for (int i = 0; i < 100 && stats.find(R"("dead":1)") == std::string::npos; ++i) {
        timers({"take", "calls", "--wait", "0.1"});
        stats = timers({"stats", "calls", "--json"}).output;
    }
    CHECK(timers({"list", "calls", "--state", "dead"}).output.find("dies") != std::string::npos);
    CHECK(timers({"repost", "calls", "dies"}).output == "1 timers are pending again\n");
    CHECK(timers({"drop", "calls", "--all"}).output == "0 timers were dropped\n");
    CHECK(timers({"drop", "calls", "--all", "--json"}).output == "{\"timers\":0}\n");
    CHECK(timers({"drop", "calls"}).status == 2);
    for (const auto& action : {"repost", "drop"}) {
        const auto refused = timers({action, "calls", "nosuch", "--json"});
        CHECK(refused.status == 1);
        CHECK(refused.output.empty());
        CHECK(refused.errors == "routemaster timers: timer not found, or not dead\n");
        CHECK(timers({action, "calls", ""}).errors ==
              "routemaster timers: id: must not be empty\n");
    }

    CHECK(timers({"postpone", "calls", "a/1", "--delay", "60"}).status == 0);
    CHECK(timers({"cancel", "calls", "a/1"}).status == 0);
    CHECK(timers({"cancel", "calls", "a/1"}).status == 1);
    CHECK(timers({"post", "calls", "{"}).status == 2);
    CHECK(timers({"post", "cal ls", "1"}).status == 2);
    CHECK(timers({"cancel", "calls", "x", "--watch"}).status == 2);
    CHECK(run({"timers", "list", "calls", "--bus", bus.url()}).status == 2);
}
