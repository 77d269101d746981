// `routemaster job-batches`, on a running bus.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

TEST_CASE("batches of jobs are created, listed, closed and removed from the command line") {
    const test::TemporaryFolder folder;
    const test::RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto batches = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "job-batches");
        return run(words, root);
    };
    const std::string end = R"({"queue":"after","name":"end"})";
    const std::string success = R"({"queue":"after","name":"success"})";
    CHECK(batches({"create", "import", "--on-success", success, "--on-end", end}).output ==
          "1 created\n");
    CHECK(batches({"create", "import"}).output == "1 exists\n");
    CHECK(batches({"create", "export"}).output == "2 created\n");
    const auto first = batches({"list", "--limit", "1", "--json"}).output;
    CHECK(std::count(first.begin(), first.end(), '\n') == 1);
    CHECK(batches({"remove", "2"}).status == 0);
    CHECK(run({"jobs", "push", "images", "a", "--options", R"({"batch":1})"}, root).status == 0);
    const auto shown = batches({"show", "1", "--json"}).output;
    CHECK(shown.starts_with(R"({"id":1,"name":"import","total":1,"pending":1,"succeeded":0,)"));
    CHECK(shown.find(R"("on_success":{"queue":"after","name":"success",)") != std::string::npos);
    CHECK(shown.find(R"("on_end":{"queue":"after","name":"end",)") != std::string::npos);
    CHECK(batches({"list", "--json"}).output == shown);
    auto table = batches({"list"}).output;
    CHECK(batches({}).output == table);
    CHECK(batches({"--json"}).output == shown);
    CHECK(table.starts_with("ID  NAME    STATE  TOTAL  PENDING  SUCCEEDED  BURIED  GONE"));
    CHECK(batches({"close", "1"}).status == 0);
    CHECK(batches({"list"}).output.find("closed") != std::string::npos);
    CHECK(run({"jobs", "delete", "images", "1"}, root).status == 0);
    CHECK(batches({"list", "--state", "running", "--json"}).output.empty());
    CHECK(batches({"list", "--state", "ended"}).output.find("ended") != std::string::npos);
    CHECK(run({"jobs", "list", "after", "--json"}, root).output.find(R"("batch":"1")") !=
          std::string::npos);
    CHECK(run({"jobs", "push", "images", "b", "--options", R"({"batch":1})"}, root)
              .errors.find("batch 1 has ended") != std::string::npos);
    CHECK(batches({"remove", "1"}).status == 0);
    CHECK(batches({"remove", "1"}).status == 1);
    CHECK(batches({"show", "1"}).errors.find("batch not found") != std::string::npos);
    CHECK(batches({"create", "x", "--on-end", "{"}).status == 2);
    CHECK(batches({"create", ""}).errors.find("must not be empty") != std::string::npos);
    CHECK(batches({"close", "1", "--watch"}).status == 2);
    CHECK(batches({"list", "--state", "open"}).status == 2);
}
