// `routemaster recurring`, on a running bus that runs the ticks.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

TEST_CASE("recurring jobs are put, shown, run and removed from the command line") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto recurring = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "recurring");
        return run(words, root);
    };
    const auto jobs = [&](const std::string& queue) {
        return run({"jobs", "list", queue, "--json"}, root).output;
    };
    CHECK(recurring({"put", "report", "30 2 * * MON-FRI", "reports", "report", R"(["sales"])",
                     "--time-zone", "Europe/Berlin", "--catch-up", "skip", "--options",
                     R"({"attempts_max":3})"})
              .status == 0);
    const auto shown = recurring({"show", "report", "--json"}).output;
    CHECK(shown.starts_with(
        R"({"name":"report","schedule":"30 2 * * MON-FRI","time_zone":"Europe/Berlin",)"));
    CHECK(shown.find(R"("attempts_max":3)") != std::string::npos);
    CHECK(shown.find(R"("catch_up":"skip")") != std::string::npos);
    CHECK(recurring({"list", "--json"}).output == shown);
    CHECK(recurring({"run", "report"}).output == "1 pushed\n");
    CHECK(recurring({"run", "report"}).output == "1 duplicate\n");
    CHECK(jobs("reports").find(R"("metadata":{"recurring":"report","tick":)") != std::string::npos);
    CHECK(recurring({"pause", "report"}).status == 0);
    const auto table = recurring({"list"}).output;
    CHECK(table.starts_with("NAME    SCHEDULE          ZONE           QUEUE    NEXT    LAST"));
    CHECK(table.find("paused") != std::string::npos);
    CHECK(recurring({"resume", "report"}).status == 0);

    // Ticks push jobs.
    CHECK(recurring({"put", "ping", "@every 1s", "pings", "ping", "--overlap"}).status == 0);
    CHECK(test::await([&] { return jobs("pings").find("\n{") != std::string::npos; }));

    // Ticks post timers.
    CHECK(recurring({"put-timer", "call", "@every 1s", "calls", "0", "--overlap"}).status == 0);
    CHECK(recurring({"show", "call", "--json"}).output.find(R"("overlap":true)") !=
          std::string::npos);
    CHECK(recurring({"put-timer", "call", "@every 1s", "calls", R"({"to":"Ada"})", "--retries-max",
                     "1", "--confirm-within", "9"})
              .status == 0);
    CHECK(recurring({"show", "call", "--json"})
              .output.find(R"("timer":{"namespace":"calls","payload":{"to":"Ada"},)"
                           R"("retries_max":1,"confirm_within":9000})") != std::string::npos);
    CHECK(recurring({"list"}).output.find("timers/calls") != std::string::npos);
    CHECK(test::await([&] {
        return run({"timers", "list", "calls"}, root).output.find("recurring:call") !=
               std::string::npos;
    }));
    CHECK(recurring({"run", "call"}).output == "duplicate\n");
    CHECK(recurring({"remove", "call"}).status == 0);
    CHECK(recurring({"put-timer", "call", "@daily", "cal ls", "1"}).status == 2);
    CHECK(recurring({"put-timer", "call", "@daily", "calls", "{"}).status == 2);

    // Ticks execute actions.
    const std::string action = R"({"push":{"queue":"digests","name":"digest"}})";
    CHECK(recurring({"put-action", "digest", "@every 1s", action, "--overlap"}).status == 0);
    const auto digest = recurring({"show", "digest", "--json"}).output;
    CHECK(digest.find(R"("action":)" + action) != std::string::npos);
    CHECK(digest.find(R"("overlap":true)") != std::string::npos);
    CHECK(recurring({"list"}).output.find("actions") != std::string::npos);
    CHECK(test::await(
        [&] { return jobs("digests").find(R"("name":"digest")") != std::string::npos; }));
    CHECK(recurring({"remove", "digest"}).status == 0);
    CHECK(recurring({"put-action", "digest", "@daily", "{"}).status == 2);
    CHECK(recurring({"put-action", "digest", "@daily", R"({"push":{"name":"a"}})"})
              .errors.find("push: queue: is missing") != std::string::npos);

    CHECK(recurring({"remove", "ping"}).status == 0);
    CHECK(recurring({"remove", "ping"}).status == 1);
    CHECK(recurring({"show", "ping"}).errors.find("recurring job not found") != std::string::npos);
    const auto refused = recurring({"put", "ping", "@every 1x", "pings", "ping"});
    CHECK(refused.status == 1);
    CHECK(refused.errors.find("schedule: '@every 1x' must be an interval") != std::string::npos);
    CHECK(recurring({"put", "ping", "@daily", "pings", "ping", "--catch-up", ""}).status == 2);
    CHECK(recurring({"put", "ping", "@daily", "pings", "ping", ""}).status == 2);
    CHECK(recurring({"put", "ping", "@daily", "pings", "ping", "--time-zone", ""}).status == 1);
    CHECK(recurring({"put", "ping", "@daily", "pings", ""})
              .errors.find("job: name: must not be empty") != std::string::npos);
    CHECK(recurring({"put", "pi ng", "@daily", "pings", "ping"}).status == 2);
    CHECK(recurring({"put", "ping", "@daily", "pings", "ping", "{"}).status == 2);
    CHECK(run({"recurring", "list", "--bus", bus.url()}).status == 2);
}
