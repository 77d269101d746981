// `routemaster queues`, on a running bus.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "routemaster/codec/json.hpp"
#include "support/await.hpp"
#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

TEST_CASE("changing a setting of a queue that never had jobs needs --create") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto queues = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "queues");
        return run(words, root);
    };
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"pause", "imagse"},
                                               {"resume", "imagse"},
                                               {"limit", "imagse", "--rate", "1/s"},
                                               {"unlimit", "imagse"}}) {
        const auto refused = queues(words);
        CHECK(refused.status == 1);
        CHECK(refused.errors.starts_with(
            "routemaster queues: queue 'imagse' has no jobs, settings or workers"));
    }
    CHECK(queues({"list", "--json"}).output.empty());
    CHECK(queues({"pause", "imagse", "--create"}).status == 0);
    CHECK(queues({"list", "--json"}).output.find(R"("paused":true)") != std::string::npos);
    CHECK(queues({"resume", "imagse"}).status == 0);

    // A worker has asked for jobs of a queue without jobs.
    REQUIRE(bus.ask("POST", "/v1/queues/served/lease", test::root_key, R"({"wait":0})").status ==
            200);
    CHECK(test::await([&] { return queues({"pause", "served"}).status == 0; }));

    // After the end of the last job, the name of the queue is known for 24 hours.
    CHECK(run({"jobs", "push", "images", "resize"}, root).status == 0);
    const auto leased = bus.ask("POST", "/v1/queues/images/lease", test::root_key, "{}");
    REQUIRE(leased.status == 200);
    const auto job = parse_json(leased.body).value();
    const auto& lease = *job.find("jobs")->get_if<Value::Array>()->front().find("lease");
    REQUIRE(bus.ask("POST", "/v1/queues/images/jobs/1/ack", test::root_key,
                    R"({"lease":")" + *lease.get_if<std::string>() + R"("})")
                .status == 204);
    CHECK(queues({"pause", "images"}).status == 0);
}

TEST_CASE("queues are listed, watched, paused and resumed from the command line") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto queues = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "queues");
        return run(words, root);
    };
    const std::string head =
        "QUEUE   SCHEDULED  READY  PENDING  BURIED  OLDEST  WORKERS  PAUSED  RATE  GROUPS\n";
    CHECK(queues({}).output ==
          "QUEUE  SCHEDULED  READY  PENDING  BURIED  OLDEST  WORKERS  PAUSED  RATE  GROUPS\n");
    CHECK(run({"jobs", "push", "images", "resize", "--options", R"({"delay":3600000})"}, root)
              .status == 0);
    CHECK(queues({"pause", "images"}).status == 0);
    const std::string line =
        "images  1          0      0        0       -       none     yes     -     -\n";
    CHECK(queues({}).output == head + line);
    CHECK(queues({"list"}).output == head + line);
    CHECK(queues({"show", "images"}).output == head + line);
    const std::string json =
        R"({"queue":"images","scheduled":1,"ready":0,"pending":0,"buried":0,)"
        R"("paused":true,"due_since":null,"workers":0,"unprofiled":0,"worker_at":null,)"
        R"("rate_limits":{"queue":null,"each_group":null}})"
        "\n";
    CHECK(queues({"--json"}).output == json);
    CHECK(queues({"show", "images", "--json"}).output == json);

    test::Process watching{
        {test::routemaster_binary, "queues", "show", "images", "--watch", "--interval", "0.01"},
        root};
    for (int i = 0; i < 3; ++i) {
        CHECK(watching.line() + '\n' == head);
        CHECK(watching.line() + '\n' == line);
    }
    CHECK(queues({"resume", "images"}).status == 0);
    CHECK(run({"jobs", "push", "images", "crop"}, root).status == 0);
    std::string seen;
    while (!seen.starts_with("images  1          1 ")) seen = watching.line();
    CHECK(seen.starts_with("images  1          1      0        0       "));
    CHECK(seen.ends_with("s    none     no      -     -"));
    watching.signal(SIGINT);
    CHECK(watching.wait() == 128 + SIGINT);

    // The bus itself, which delivers and schedules, and the worker that has the job.
    const auto leased = bus.ask("POST", "/v1/queues/images/lease", test::root_key, "{}");
    REQUIRE(leased.status == 200);
    const auto workers = run({"workers"}, root).output;
    CHECK(workers.starts_with("WORKER "));
    CHECK(std::count(workers.begin(), workers.end(), '\n') == 4);
    CHECK(workers.find("  1     images  2   0.") != std::string::npos);
    CHECK(workers.find("       crop\n") != std::string::npos);
    CHECK(run({"workers", "--json"}, root).output.find(R"("name":"crop")") != std::string::npos);

    CHECK(queues({"pause", "main"}).status == 1);
    CHECK(queues({"pause", "im/ages"}).status == 2);
    CHECK(queues({"pause", "images", "--watch"}).status == 2);
    CHECK(queues({"stop", "images"}).status == 2);

    CHECK(queues({"limit", "mail", "--create", "--rate", "100/5min", "--burst", "20",
                  "--group-rate", "2/s"})
              .status == 0);
    const auto limited = queues({"show", "mail"}).output;
    CHECK(limited.ends_with("  no      100/5min burst 20  2/s\n"));
    CHECK(queues({"limit", "mail", "--group-rate", "2/s", "--group-burst", "5"}).status == 0);
    CHECK(queues({"show", "mail"}).output.ends_with("  no      -     2/s burst 5\n"));
    CHECK(queues({"unlimit", "mail"}).status == 0);
    CHECK(queues({"show", "mail"}).output.ends_with("  no      -     -\n"));
    for (const char* rate :
         {"5", "5/", "/s", "5/week", "0/s", "5/0s", "-1/s", "5/s ", "1000001/s"}) {
        CAPTURE(rate);
        CHECK(queues({"limit", "mail", "--rate", rate}).status == 2);
    }
    CHECK(queues({"limit", "mail"}).status == 2);
    CHECK(queues({"limit", "mail", "--group-rate", "1/s", "--burst", "2"}).status == 2);
    CHECK(queues({"limit", "mail", "--rate", "1/s", "--burst", "0"}).errors ==
          "routemaster queues: --burst: must be a whole number from 1 to 1000000, not '0'\n");
    CHECK(queues({"limit", "mail", "--group-rate", "1/s", "--group-burst", "0"}).status == 2);
    CHECK(queues({"limit", "aux", "--rate", "1/s"}).status == 1);
    CHECK(run({"queues", "--bus", bus.url()}).status == 2);
}
