// `routemaster jobs`, on a running bus.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

TEST_CASE(
    "jobs are pushed, shown, kicked (started again), cancelled and deleted from the command line") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto jobs = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "jobs");
        return run(words, root);
    };
    CHECK(jobs({"push", "images", "resize", R"(["cat",64])"}).output == "1 pushed\n");
    CHECK(jobs({"push", "images", "resize", R"(["cat",64])"}).output == "1 duplicate\n");
    CHECK(jobs({"push", "images", "later", "--options", R"({"run_at":4102444800000})"}).output ==
          "2 pushed\n");
    CHECK(jobs({"--json", "push", "images", "third", "--priority", "-5"}).output ==
          "{\"id\":3,\"outcome\":\"pushed\"}\n");
    CHECK(jobs({"count", "images"}).output ==
          "QUEUE   SCHEDULED  READY  PENDING  BURIED\n"
          "images  1          2      0        0\n");
    CHECK(
        jobs({"list", "images"}).output ==
        "ID  STATE      PRIORITY  GROUP  ATTEMPTS  DUE                   NAME    ARGUMENTS   "
        "ERROR\n"
        "2   scheduled  0         -      0/25      2100-01-01T00:00:00Z  later   []          -\n"
        "1   ready      0         -      0/25      -                     resize  [\"cat\",64]  -\n"
        "3   ready      -5        -      0/25      -                     third   []          -\n");
    const auto alone = jobs({});
    CHECK(alone.status == 2);
    CHECK(alone.errors.find("name a queue, for example 'routemaster jobs list images'") !=
          std::string::npos);
    CHECK(jobs({"list", ".."}).errors.find("but not . or ..") != std::string::npos);
    const auto listed = jobs({"list", "images", "--state", "ready", "--limit", "1", "--json"});
    CHECK(listed.output.starts_with(R"({"id":1,"state":"ready","name":"resize")"));
    CHECK(listed.output.find("\n{") == std::string::npos);
    CHECK(jobs({"show", "images", "1"}).output.find("arguments     [\"cat\",64]\n") !=
          std::string::npos);
    CHECK(jobs({"show", "images", "1", "--json"}).output == listed.output);

    const auto leased = bus.ask("POST", "/v1/queues/images/lease", test::root_key, "{}").body;
    const auto at = leased.find(R"("lease":")") + 9;
    const auto lease = leased.substr(at, leased.find('"', at) - at);
    CHECK(jobs({"delete", "images", "1"}).errors.find("the bus answered 409") != std::string::npos);
    CHECK(jobs({"cancel", "images", "3"}).output == "cancelled\n");
    CHECK(bus.ask("POST", "/v1/queues/images/jobs/1/nack", test::root_key,
                  R"({"error":"broken","bury":true,"lease":")" + lease + R"("})")
              .status == 200);
    CHECK(jobs({"show", "images", "1"}).output.find("attempt 1 failed at 20") != std::string::npos);
    CHECK(jobs({"list", "images", "--state", "buried"}).output.find("  broken\n") !=
          std::string::npos);
    CHECK(jobs({"kick", "images", "--all"}).output == "1 jobs run again\n");
    CHECK(jobs({"kick", "images", "--all", "--json"}).output == "{\"jobs\":0}\n");
    CHECK(jobs({"kick", "images", "1"}).status == 1);
    CHECK(jobs({"push", "images", "next", "--options", R"({"after":[1]})"}).output == "4 pushed\n");
    CHECK(jobs({"list", "images", "--state", "scheduled"}).output.find("after job 1 ") !=
          std::string::npos);
    CHECK(jobs({"delete", "images", "1"}).status == 0);
    CHECK(jobs({"show", "images", "1"}).status == 1);
    CHECK(jobs({"show", "images", "4"}).output.find("job 1, which it waited for, was deleted") !=
          std::string::npos);

    CHECK(jobs({"push", "images", "b", "--group", "account:42", "--concurrency", "2"}).output ==
          "5 pushed\n");
    CHECK(jobs({"show", "images", "5"}).output.find("group         account:42\n") !=
          std::string::npos);
    CHECK(jobs({"list", "images", "--name", "b", "--group", "account:42", "--json"})
              .output.starts_with(R"({"id":5,)"));
    CHECK(jobs({"list", "images", "--group", "none", "--json"}).output.empty());
    CHECK(jobs({"list", "images", "--name", "none", "--json"}).output.empty());
    // The lease above was the last request for jobs of the queue.
    CHECK(jobs({"explain", "images", "5"}).output.starts_with("job 5 is ready: it is READY for "));
    CHECK(jobs({"push", "unserved", "resize"}).status == 0);
    const auto unserved = bus.ask("GET", "/v1/queues/unserved/jobs?state=ready", test::root_key);
    const auto id = unserved.body.substr(7, unserved.body.find(',') - 7);
    CHECK(jobs({"explain", "unserved", id}).output ==
          "job " + id + " is ready: no worker serves its queue\n");
    CHECK(run({"queues"}, root).output.find("none     no") != std::string::npos);
    const auto workers = run({"workers"}, root).output;
    CHECK(workers.find("NAME") != std::string::npos);
    CHECK(workers.find("images") != std::string::npos);
    CHECK(workers.find("http") != std::string::npos);
    CHECK(workers.find("(recurring jobs)") != std::string::npos);
    CHECK(jobs({"explain", "images", "4"})
              .output.starts_with("job 4 is buried: it was given up: job 1, which it waited for, "
                                  "was deleted\nburied at "));
    CHECK(jobs({"explain", "images", "9"}).status == 1);
    // Characters that a terminal would obey: a right-to-left override, and line ends.
    CHECK(jobs({"push", "images", "a\u202eb\u0085c\u2028d\u2026", "--group", "tenant"}).status ==
          0);
    CHECK(jobs({"list", "images", "--group", "tenant"})
              .output.find("  tenant  0/25      -    a b c d\u2026  []") != std::string::npos);
    CHECK(jobs({"push", "images", "c", "--concurrency", "2"})
              .errors.find("concurrency: is allowed only with") != std::string::npos);
    CHECK(jobs({"push", "images", "c", "--concurrency", "0"}).status == 2);

    CHECK(jobs({"kick", "images"}).status == 2);
    CHECK(jobs({"push", "images", "a", "{"}).status == 2);
    CHECK(jobs({"push", "images", "a", "--priority", "101"}).status == 2);
    CHECK(jobs({"push", "images", "a", "--priority=1", "--options", R"({"priority":2})"}).status ==
          2);
    CHECK(jobs({"push", "im/ages", "a"}).status == 2);
    CHECK(jobs({"list", "images", "--state", "lost"}).status == 2);
    CHECK(jobs({"push", "images", "a", "7"}).errors.find("arguments: must be an array") !=
          std::string::npos);
    CHECK(run({"jobs", "count", "images", "--bus", bus.url()}).status == 2);
}

TEST_CASE(
    "a push from the command line with an idempotency key can be repeated without a second job") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto push = [&](const std::string& name, const std::string& key) {
        return run({"jobs", "push", "mails", name, "--options", R"({"unique":false})",
                    "--idempotency-key", key},
                   root);
    };
    CHECK(push("a", "order 42").output == "1 pushed\n");
    CHECK(push("a", "order 42").output == "1 pushed\n");
    CHECK(push("a", "order 43").output == "2 pushed\n");
    CHECK(push("b", "order 42")
              .errors.find("idempotency_key: was used for a push with other content") !=
          std::string::npos);
    CHECK(push("a", std::string(251, 'k')).errors.find("Idempotency-Key: must have at most 250") !=
          std::string::npos);
    CHECK(push("a", "").status == 2);
    CHECK(push("a", "k\r\nHost: other").status == 2);
    CHECK(run({"jobs", "count", "mails"}, root).output ==
          "QUEUE  SCHEDULED  READY  PENDING  BURIED\n"
          "mails  0          2      0        0\n");
}
