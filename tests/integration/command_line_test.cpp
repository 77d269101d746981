#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/batch_receiver.hpp"
#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/tcp_gate.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::Ended;
using test::run;
using test::RunningBus;

namespace {

test::Process::Environment as(const RunningBus& bus, const std::string& token) {
    return {{"ROUTEMASTER_BUS", bus.url()}, {"ROUTEMASTER_TOKEN", token}};
}

bool is_one_line(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n') == 1;
}

std::string line_of(int number) {
    return R"({"topic":"orders","type":"create","url":"https://shop.example/)" +
           std::to_string(number) + "\"}\n";
}

}  // namespace

TEST_CASE("tokens are added, listed and removed from the command line") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                          {"ROUTEMASTER_ROOT_KEY", test::root_key}};
    CHECK(run({"token", "add", "new", "--token", "new--1"}, root).output == "new--1\n");
    const auto made = run({"token", "add", "other"}, root).output;
    CHECK(made.starts_with("other--"));
    CHECK(made.size() == std::string{"other--"}.size() + 32 + 1);
    const auto list = run({"token", "list"}, root).output;
    CHECK(list.find("new--1\n") != std::string::npos);
    CHECK(list.find(made) != std::string::npos);
    CHECK(run({"token", "rm", "new--1"}, root).status == 0);
    CHECK(run({"token", "list"}, root).output.find("new--1") == std::string::npos);
    const auto again = run({"token", "rm", "new--1"}, root);
    CHECK(again.status == 1);
    CHECK(again.errors == "routemaster token: token not found\n");
    CHECK(run({"token", "rm", ""}, root).status == 2);
    CHECK(run({"token", "add", "third", "--token", ""}, root).status == 2);

    const auto refused = run({"token", "add", "No Name"}, root);
    CHECK(refused.status == 1);
    CHECK(is_one_line(refused.errors));
    CHECK(refused.errors.find("the bus answered 400") != std::string::npos);
    const auto wrong = run({"token", "list", "--root-key", "wrong", "--bus", bus.url()});
    CHECK(wrong.status == 1);
    CHECK(wrong.errors.starts_with(
        "routemaster token: the bus answered 401: the key presented (--root-key or --token) is "
        "wrong: "));
    const auto file = (folder.path() / "root-key").string();
    std::ofstream{file} << test::root_key << '\n';
    CHECK(run({"token", "list", "--root-key-file", file, "--bus", bus.url()}).output ==
          run({"token", "list"}, root).output);
    CHECK(run({"token", "list", "--bus", bus.url()}).status == 2);
    CHECK(run({"token"}, root).status == 2);
    CHECK(run({"token", "add"}, root).status == 2);
}

TEST_CASE("an error names unknown words of a command in their order, before missing words") {
    const auto refusal_of = [](const std::vector<std::string>& words) {
        const auto ended = run(words);
        CHECK(ended.status == 2);
        return ended.errors;
    };
    const std::string unknown = ": not known, or not expected here: ";
    CHECK(refusal_of({"timers", "counts", "x"}) ==
          "routemaster timers" + unknown + "counts x; see --help\n");
    CHECK(refusal_of({"timers", "list", "--first", "--second"}) ==
          "routemaster timers" + unknown + "--first --second; see --help\n");
    CHECK(refusal_of({"timers"}) == "routemaster timers: A subcommand is required\n");
    CHECK(refusal_of({"timers", "list"}) == "routemaster timers: namespace is required\n");
}

TEST_CASE("events are subscribed to, published and listened to from the command line") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    test::Process listener{{test::routemaster_binary, "listen", "--port", "0"}};
    const auto port = test::announced_port(listener.line());
    const auto callback = "http://127.0.0.1:" + std::to_string(port) + "/billing";
    REQUIRE(run({"subscribe", "orders", "refunds", "--callback", callback, "--uuid", "billing",
                 "--timeout", "60000", "--max", "2", "--max-in-flight", "3", "--age-max", "600000"},
                as(bus, "billing"))
                .status == 0);
    CHECK(bus.ask("GET", "/subscribers", test::root_key)
              .body.starts_with(R"([{"subscriber":"billing","uuid":"billing","callback":")" +
                                callback + R"(","max_events":2,"timeout":60000,)"));

    CHECK(bus.ask("GET", "/subscribers", test::root_key)
              .body.find(R"("max_in_flight":3,"attempts_max":0,"age_max":600000,)") !=
          std::string::npos);

    const auto many =
        run({"publish"}, as(bus, "shop"),
            R"({"topic":"refunds","type":"create","url":"https://shop.example/r/1"})");
    CHECK(many.status == 0);
    CHECK(many.output.starts_with("published 1 events in "));
    CHECK(many.output.ends_with(", 0 failed\n"));

    REQUIRE(run({"publish", "orders", "--type", "update", "--url", "https://shop.example/1",
                 "--data", R"({"total": 3})", "--timestamp", "1795222853691"},
                as(bus, "shop"))
                .status == 0);

    CHECK(listener.line() == "/billing: 2 events");
    CHECK(listener.line() == "    refunds create https://shop.example/r/1");
    CHECK(listener.line() == R"(    orders update https://shop.example/1 {"total":3})");
    listener.signal(SIGINT);
    CHECK(listener.line() == "received 2 events in 1 batches");
    CHECK(listener.wait() == 0);
}

TEST_CASE("a listener prints batches without their events, or each event as JSON") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    std::string flag;
    SUBCASE("the batches are printed without events") { flag = "--quiet"; }
    SUBCASE("each event is printed as JSON") { flag = "--json"; }
    test::Process listener{{test::routemaster_binary, "listen", "--port", "0", flag}};
    const auto port = test::announced_port(listener.line());
    const auto callback = "http://127.0.0.1:" + std::to_string(port) + "/billing";
    REQUIRE(bus.subscribe("billing", R"(["orders"])", callback, R"("timeout":0)").status == 204);
    REQUIRE(run({"publish", "orders", "--type", "update", "--url", "https://shop.example/1",
                 "--timestamp", "1795222853691"},
                as(bus, "shop"))
                .status == 0);
    if (flag == "--json") {
        CHECK(listener.line() == R"({"path":"/billing","event":{"topic":"orders","type":"update",)"
                                 R"("url":"https://shop.example/1","t":1795222853691}})");
    } else {
        CHECK(listener.line() == "/billing: 1 event");
    }
    listener.signal(SIGINT);
    if (flag == "--quiet") CHECK(listener.line() == "received 1 events in 1 batches");
    CHECK(listener.wait() == 0);
}

TEST_CASE("published lines keep their order on one connection, and within a topic on several") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const test::BatchReceiver receiver;
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.url()).status == 204);
    std::string input;
    std::vector<std::string> urls;
    for (int i = 0; i < 600; ++i) {
        input += line_of(i);
        urls.push_back("https://shop.example/" + std::to_string(i));
    }
    std::vector<std::string> words{"publish"};
    SUBCASE("the publisher uses one connection") {}
    SUBCASE("the publisher uses several connections") {
        words.insert(words.end(), {"--connections", "8", "--topic-order"});
    }
    CHECK(run(words, as(bus, "shop"), input).output.starts_with("published 600 events in "));
    REQUIRE(receiver.await_event(urls.back()));
    CHECK(receiver.accepted() == urls);
}

TEST_CASE("several connections publish every line once") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const auto file = (folder.path() / "events.jsonl").string();
    std::ofstream stream{file};
    for (int i = 0; i < 3'000; ++i) stream << line_of(i);
    stream.close();
    const test::TcpGate gate{bus.port()};
    const auto ran = run({"publish", "--file", file, "--connections", "16"},
                         {{"ROUTEMASTER_BUS", "http://127.0.0.1:" + std::to_string(gate.port())},
                          {"ROUTEMASTER_TOKEN", "shop"}});
    CHECK(gate.connections() >= 16);
    CHECK(ran.output.starts_with("published 3000 events in "));
    CHECK(bus.ask("GET", "/topics", test::root_key).body.find(R"("events":3000)") !=
          std::string::npos);
}

TEST_CASE("lines and keys are read even if their file begins with a byte order mark") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const std::string mark = "\xef\xbb\xbf";
    const auto file = (folder.path() / "events.jsonl").string();
    std::ofstream{file} << mark << line_of(1) << line_of(2);
    CHECK(run({"publish", "--file", file}, as(bus, "shop"))
              .output.starts_with("published 2 events in "));
    CHECK(run({"publish"}, as(bus, "shop"), mark + line_of(3))
              .output.starts_with("published 1 events in "));
    const auto middle = run({"publish"}, as(bus, "shop"), line_of(4) + mark + line_of(5));
    CHECK(middle.errors.find("line 2: JSON: a byte order mark at byte 1") != std::string::npos);
    const auto key = (folder.path() / "root-key").string();
    std::ofstream{key} << mark << test::root_key << "\r\n";
    CHECK(run({"token", "list", "--root-key-file", key, "--bus", bus.url()}).status == 0);
}

TEST_CASE("an error names each line that cannot be published, and all valid lines are published") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const auto ran =
        run({"publish"}, as(bus, "shop"),
            line_of(1) + "\n" + line_of(2) + "{\"topic\":\"orders\"}\nnonsense\n" + line_of(3));
    CHECK(ran.status == 1);
    CHECK(ran.output.starts_with("published 3 events in "));
    CHECK(ran.output.ends_with(", 2 failed\n"));
    CHECK(ran.errors.find("routemaster publish: line 4: the bus answered 400: ") !=
          std::string::npos);
    CHECK(ran.errors.find("routemaster publish: line 5: JSON: ") != std::string::npos);
    CHECK(std::count(ran.errors.begin(), ran.errors.end(), '\n') == 2);
    CHECK(bus.ask("GET", "/topics", test::root_key).body.find(R"("events":3)") !=
          std::string::npos);
}

TEST_CASE("the error for a line of JSON that is not an object does not mention the topic") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    for (const std::string line : {"[1]", "[]", "7", "null", "\"orders\""}) {
        CAPTURE(line);
        const auto ran = run({"publish"}, as(bus, "shop"), line + "\n");
        CHECK(ran.status == 1);
        CHECK(ran.errors ==
              "routemaster publish: line 1: is not an event, which is an object: "
              "{\"topic\":…}\n");
    }
    const auto nameless = run({"publish"}, as(bus, "shop"), "{\"type\":\"noop\"}\n");
    CHECK(nameless.errors.starts_with("routemaster publish: line 1: topic: must be a text of "));
}

TEST_CASE("of many invalid lines the first 20 are explained, and all with --verbose") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    std::string input;
    for (int i = 0; i < 30; ++i) input += line_of(i) + "nonsense\n";
    const auto lines = [](const Ended& ran) {
        return std::count(ran.errors.begin(), ran.errors.end(), '\n');
    };
    const auto some = run({"publish", "--connections", "4"}, as(bus, "shop"), input);
    CHECK(some.status == 1);
    CHECK(some.output.ends_with(", 30 failed\n"));
    CHECK(lines(some) == 21);
    CHECK(some.errors.starts_with("routemaster publish: line 2: "));
    CHECK(some.errors.ends_with(
        "routemaster publish: 10 more lines were not published; --verbose says why\n"));

    const auto all = run({"publish", "--verbose"}, as(bus, "shop"), input);
    CHECK(all.status == 1);
    CHECK(lines(all) == 30);
    CHECK(all.errors.find("\nroutemaster publish: line 60: ") != std::string::npos);
}

TEST_CASE("lines that were not sent because the bus is unreachable are counted") {
    std::string input;
    for (int i = 0; i < 30; ++i) input += line_of(i);
    const auto ran = run(
        {"publish"},
        {{"ROUTEMASTER_BUS", "http://u:5ecret@127.0.0.1:1"}, {"ROUTEMASTER_TOKEN", "t"}}, input);
    CHECK(ran.status == 1);
    CHECK(ran.errors.starts_with("routemaster publish: line 1: http://***@127.0.0.1:1: "));
    const auto failed = std::stoi(ran.output.substr(ran.output.find(", ") + 2));
    CHECK(ran.output.starts_with("published 0 events in "));
    // The number of lines that were read before the bus was found to be gone depends on chance.
    const auto more = ": " + std::to_string(failed - 1) + " more lines were not published\n";
    CHECK((ran.errors.find(more) != std::string::npos) == (failed > 1));
}

TEST_CASE("a command that is refused or fails prints one line") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const auto fails = [](int status, const Ended& ran, const std::string& why) {
        CAPTURE(ran.errors);
        CHECK(ran.status == status);
        CHECK(is_one_line(ran.errors));
        CHECK(ran.errors.find(why) != std::string::npos);
        CHECK(ran.output.empty());
    };
    const std::vector<std::string> publish{"publish", "orders", "--type",
                                           "noop",    "--url",  "https://shop.example/1"};
    fails(1, run(publish, as(bus, "nobody")), "401");
    fails(1, run(publish, {{"ROUTEMASTER_BUS", "http://127.0.0.1:1"}, {"ROUTEMASTER_TOKEN", "t"}}),
          "http://127.0.0.1:1");
    fails(2, run(publish, {{"ROUTEMASTER_BUS", bus.url()}}), "ROUTEMASTER_TOKEN");
    fails(2, run({"publish", "orders", "--url", "https://a"}, as(bus, "shop")), "--type");
    fails(2, run({"publish", "orders", "--type", "grow", "--url", "https://a"}, as(bus, "shop")),
          "--type");
    fails(2, run({"publish", "Orders", "--type", "noop", "--url", "https://a"}, as(bus, "shop")),
          "topic");
    fails(2,
          run({"publish", "orders", "--type", "noop", "--url", "https://a", "--data", "{"},
              as(bus, "shop")),
          "--data");
    fails(1, run({"publish", "--file", "no-such-file"}, as(bus, "shop")), "no-such-file");
    fails(1, run({"publish", "--file", folder.path().string()}, as(bus, "shop")),
          "cannot read " + folder.path().string() + ": Is a directory");
    fails(1, run({"subscribe", "orders", "--callback", "ftp://a"}, as(bus, "billing")), "callback");
    fails(1,
          run({"subscribe", "orders", "--callback", "https://a.example", "--max", "0"},
              as(bus, "billing")),
          "max");
    fails(2,
          run({"subscribe", "orders", "--callback", "https://a.example", "--max", "few"},
              as(bus, "billing")),
          "--max: must be a whole number, not 'few'");
    fails(2, run({"subscribe", "--callback", "https://a.example"}, as(bus, "billing")), "topics");
    fails(2, run({"listen", "--port", "nowhere"}), "--port");
    fails(1, run({"listen", "--port", std::to_string(bus.port())}), "127.0.0.1");
    fails(2, run({"sevre"}), "sevre");
    fails(2, run({}), "");
    CHECK(run({"--help"}).output.find("subscribe") != std::string::npos);
    CHECK(run({"serve", "--help"}).output.find("ROUTEMASTER_ROOT_KEY") != std::string::npos);
    CHECK(run({"--version"}).output.starts_with("routemaster "));
}

TEST_CASE("the file of a stopped bus can be checked and exported") {
    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "routemaster.db").string();
    {
        const RunningBus bus{folder.path()};
        const test::Process::Environment root{{"ROUTEMASTER_BUS", bus.url()},
                                              {"ROUTEMASTER_ROOT_KEY", test::root_key}};
        CHECK(run({"token", "add", "new", "--token", "new--1"}, root).status == 0);
        const auto busy = run({"check", file});
        CHECK(busy.status == 1);
        CHECK(busy.errors.find("in use") != std::string::npos);
    }
    const auto checked = run({"check", file});
    CHECK(checked.status == 0);
    CHECK(checked.output.find("whole") != std::string::npos);
    const auto exported = run({"export", file});
    CHECK(exported.status == 0);
    CHECK(exported.output.find(R"({"token":{"token":"new--1","name":"new"}})") !=
          std::string::npos);
    CHECK(run({"check"}).status == 2);
    CHECK(run({"export", file + ".none"}).status == 1);
}

TEST_CASE("a command whose output cannot be written reports the failure, and fails") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    for (const std::string words : {"jobs push images resize", "queues", "queues --json"}) {
        INFO(words);
        test::Process process{
            {"/bin/sh", "-c", "exec \"$0\" " + words + " >/dev/full", test::routemaster_binary},
            {{"ROUTEMASTER_BUS", bus.url()}, {"ROUTEMASTER_ROOT_KEY", test::root_key}}};
        CHECK(process.wait() == 1);
        CHECK(process.errors().ends_with(": the output could not be written\n"));
    }
}

TEST_CASE("the example of scripts/run delivers every event once and in order") {
    const auto build = std::filesystem::path{test::routemaster_binary}.parent_path() / ".." / "..";
    const auto script = std::string{ROUTEMASTER_SOURCE_DIR} + "/scripts/lib/run-bus";
    test::Process process{{script, build.string(), "--once"}};
    CHECK(process.wait() == 0);
    CHECK(process.output().find("billing: all ") != std::string::npos);
    CHECK(process.output().find("audit: all ") != std::string::npos);
    CHECK(process.errors().empty());
}
