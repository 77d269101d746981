// Permanently failing batches on a running bus. They block no further batches, and can be managed.

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/codec/json.hpp"
#include "support/await.hpp"
#include "support/running_bus.hpp"
#include "support/scripted_receiver.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;
using test::ScriptedReceiver;

namespace {

std::string poison_url(int number) {
    return "https://shop.example/orders/" + std::to_string(number);
}

/// A receiver. While `broken`, it responds `status` to batches with the URL of order 3, and 204 to
/// all further batches.
struct Receiver {
    explicit Receiver(int status) : status_of_poison{status} {}

    const int status_of_poison;
    std::atomic<bool> broken = true;
    ScriptedReceiver server{[this](const test::ReceivedRequest& request) {
        const bool poison = request.body().find(poison_url(3)) != std::string_view::npos;
        return test::status(broken && poison ? status_of_poison : 204);
    }};

    /// The numbers of the received orders, in order of arrival.
    [[nodiscard]] std::string came() const {
        std::string all;
        for (const auto& request : server.requests()) {
            const auto body = request.body();
            for (auto at = body.find("orders/"); at != std::string_view::npos;
                 at = body.find("orders/", at + 1)) {
                all += body[at + 7];
            }
        }
        return all;
    }
};

/// Subscribes `billing` with one event per batch, and publishes five orders.
void publish_five(const RunningBus& bus, const Receiver& receiver, const std::string& settings) {
    REQUIRE(bus.subscribe("billing", R"(["orders"])", receiver.server.url(),
                          R"("timeout":0,"max":1)" + (settings.empty() ? "" : "," + settings))
                .status == 204);
    for (int i = 1; i <= 5; ++i) REQUIRE(bus.publish("orders", poison_url(i)).status == 200);
}

/// The DEAD batches of `billing`.
Value::Array dead(const RunningBus& bus) {
    const auto answer = bus.ask("GET", "/subscriber/dead", "billing");
    CHECK(answer.status == 200);
    return *parse_json(answer.body).value().get_if<Value::Array>();
}

std::string text_of(const Value& object, std::string_view field) {
    const auto* value = object.find(field);
    REQUIRE(value != nullptr);
    if (const auto* text = value->get_if<std::string>()) return *text;
    std::string text;
    append_json(text, *value);
    return text;
}

/// The output of a command, which must succeed.
std::string output_of(const RunningBus& bus, const std::vector<std::string>& words,
                      const std::string& token = "billing") {
    std::vector<std::string> command{test::routemaster_binary};
    command.insert(command.end(), words.begin(), words.end());
    test::Process process{command, {{"ROUTEMASTER_BUS", bus.url()}, {"ROUTEMASTER_TOKEN", token}}};
    const auto status = process.wait();
    CAPTURE(process.errors());
    CHECK(status == 0);
    return process.output();
}

}  // namespace

TEST_CASE(
    "a batch that its receiver cannot process blocks no batch, and is delivered after a repair") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path()};
    Receiver receiver{500};
    publish_five(bus, receiver, R"("attempts_max":3)");
    REQUIRE(test::await([&] { return receiver.came() == "1233345"; }));
    REQUIRE(test::await([&] { return dead(bus).size() == 1; }));
    const auto batch = dead(bus).front();
    CHECK(text_of(batch, "attempts") == "3");
    CHECK(text_of(batch, "error").starts_with("HTTP 500"));
    CHECK(bus.process().await_error("is DEAD after attempt 3, with 1 events: HTTP 500"));
    const auto uid = text_of(batch, "uid");
    const auto shown = bus.ask("GET", "/subscriber/dead/" + uid, "billing");
    CHECK(shown.body.find(poison_url(3)) != std::string::npos);

    // The DEAD batch survives a kill.
    bus.kill();
    bus.start();
    REQUIRE(dead(bus).size() == 1);
    CHECK(dead(bus).front() == batch);
    receiver.broken = false;
    CHECK(bus.ask("POST", "/subscriber/dead/" + uid + "/redeliver", "billing").status == 204);
    // The kill may have come before the last settlements, which repeats the last batches.
    REQUIRE(test::await([&] { return receiver.came().substr(7).ends_with('3'); }));
    CHECK(receiver.came().starts_with("1233345"));
    CHECK(dead(bus).empty());
}

TEST_CASE("by default, a batch that always fails is retried for ever") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path(), {"--max-backoff", "1"}};
    Receiver receiver{410};
    publish_five(bus, receiver, "");
    REQUIRE(test::await([&] { return receiver.came().size() >= 20; }));
    CHECK(receiver.came().find('4') == std::string::npos);
    CHECK(dead(bus).empty());
}

TEST_CASE("a status set as permanent makes a batch DEAD at the first attempt") {
    const test::TemporaryFolder folder;
    const auto attempts_of = [&](int status, const std::vector<std::string>& flags) {
        const test::TemporaryFolder own;
        const RunningBus bus{own.path(), flags};
        Receiver receiver{status};
        publish_five(bus, receiver, R"("attempts_max":4)");
        REQUIRE(test::await([&] { return receiver.came().ends_with("45"); }));
        REQUIRE(test::await([&] { return dead(bus).size() == 1; }));
        return text_of(dead(bus).front(), "attempts");
    };
    CHECK(attempts_of(410, {}) == "1");
    CHECK(attempts_of(404, {}) == "4");
    CHECK(attempts_of(404, {"--permanent-statuses", "404,422"}) == "1");
    CHECK(attempts_of(422, {"--permanent-statuses", "404,422"}) == "1");
    CHECK(attempts_of(410, {"--permanent-statuses", "404,422"}) == "4");
}

TEST_CASE("a failing batch older than age_max becomes DEAD") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    Receiver receiver{503};
    publish_five(bus, receiver, R"("age_max":1500)");
    REQUIRE(test::await([&] { return receiver.came().ends_with("45"); }));
    CHECK(dead(bus).size() == 1);
    CHECK(receiver.came().size() > 5);  // The first attempt was not the last.
}

TEST_CASE("the command line manages DEAD batches") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    Receiver receiver{500};
    CHECK(output_of(bus, {"subscribe", "orders", "--callback", receiver.server.url(), "--timeout",
                          "0", "--max", "1", "--attempts-max", "1", "--age-max", "0", "--dead-max",
                          "10"}) == "");
    const auto subscribers = bus.ask("GET", "/subscribers", "billing").body;
    CHECK(subscribers.find(R"("attempts_max":1,"age_max":0,"dead_max":10,"dead":0)") !=
          std::string::npos);
    CHECK(output_of(bus, {"dead", "list"}) == "");
    REQUIRE(bus.publish("orders", poison_url(3)).status == 200);
    REQUIRE(test::await([&] { return dead(bus).size() == 1; }));
    const auto uid = text_of(dead(bus).front(), "uid");
    const auto line = output_of(bus, {"dead", "list"});
    CHECK(line.starts_with(uid + " died_at="));
    CHECK(line.ends_with(" attempts=1 events=1 error=\"HTTP 500: unavailable\"\n"));
    CHECK(output_of(bus, {"dead", "list", "--subscriber", "billing"}, test::root_key) == line);
    CHECK(output_of(bus, {"dead", "list", "--subscriber", "billing", "--root-key", test::root_key},
                    "shop") == line);
    const auto shown = output_of(bus, {"dead", "show", "--", uid});
    CHECK(parse_json(shown).value().find("events") != nullptr);
    CHECK(shown.find(poison_url(3)) != std::string::npos);

    CHECK(output_of(bus, {"dead", "redeliver", "--", uid}) == "");
    REQUIRE(test::await([&] { return receiver.came() == "33" && dead(bus).size() == 1; }));
    receiver.broken = false;
    CHECK(output_of(bus, {"dead", "redeliver", "--all", "--subscriber", "billing"},
                    test::root_key) == "1 batches are delivered again\n");
    REQUIRE(test::await([&] { return receiver.came() == "333"; }));

    receiver.broken = true;
    REQUIRE(bus.publish("orders", poison_url(3)).status == 200);
    REQUIRE(bus.publish("orders", poison_url(3)).status == 200);
    REQUIRE(test::await([&] { return dead(bus).size() == 2; }));
    CHECK(output_of(bus, {"dead", "drop", "--", text_of(dead(bus).front(), "uid")}) == "");
    CHECK(dead(bus).size() == 1);
    CHECK(output_of(bus, {"dead", "drop", "--all"}) == "1 batches with 1 events are dropped\n");
    CHECK(dead(bus).empty());

    const auto refused = [&](const std::vector<std::string>& words, int status) {
        std::vector<std::string> command{test::routemaster_binary, "dead"};
        command.insert(command.end(), words.begin(), words.end());
        test::Process process{command,
                              {{"ROUTEMASTER_BUS", bus.url()}, {"ROUTEMASTER_TOKEN", "billing"}}};
        CAPTURE(words.back());
        CHECK(process.wait() == status);
        return process.errors();
    };
    CHECK(refused({"drop"}, 2).find("--all") != std::string::npos);
    CHECK(refused({"redeliver", "--all", "--", uid}, 2).find("--all") != std::string::npos);
    CHECK(refused({"show"}, 2).find("batch") != std::string::npos);
    CHECK(refused({"show", "--", uid}, 1).find("dead batch not found") != std::string::npos);
    CHECK(refused({"list", "--subscriber", "billing"}, 1).find("401") != std::string::npos);
}

TEST_CASE("commands for DEAD batches read the root key like all other commands") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    Receiver receiver{410};
    publish_five(bus, receiver, R"("attempts_max":1)");
    REQUIRE(test::await([&] { return dead(bus).size() == 1; }));
    const auto file = (folder.path() / "root-key").string();
    std::ofstream{file} << test::root_key << '\n';
    const auto ran = [&](test::Process::Environment environment, std::vector<std::string> flags) {
        std::vector<std::string> command{test::routemaster_binary, "dead", "list", "--bus",
                                         bus.url()};
        command.insert(command.end(), flags.begin(), flags.end());
        test::Process process{command, environment};
        const auto status = process.wait();
        return status == 0 ? process.output() : std::to_string(status) + ": " + process.errors();
    };
    using Environment = test::Process::Environment;
    const Environment key{{"ROUTEMASTER_ROOT_KEY", test::root_key}};
    const auto uid = text_of(dead(bus).front(), "uid");
    CHECK(ran(key, {"--subscriber", "billing"}).starts_with(uid));
    CHECK(ran({}, {"--subscriber", "billing", "--root-key", test::root_key}).starts_with(uid));
    CHECK(ran({}, {"--subscriber", "billing", "--root-key-file", file}).starts_with(uid));
    CHECK(ran({{"ROUTEMASTER_ROOT_KEY_FILE", file}}, {"--subscriber", "billing"}).starts_with(uid));
    // The token may belong to another client, or to the subscriber itself.
    CHECK(ran(key, {"--subscriber", "billing", "--token", "shop"}).starts_with(uid));
    CHECK(ran(key, {"--token", "billing"}).starts_with(uid));
    CHECK(ran({}, {"--subscriber", "billing"}).find("--root-key") != std::string::npos);
    CHECK(ran({}, {"--subscriber", "billing"}).starts_with("2: "));
    CHECK(ran(key, {}).find("--token") != std::string::npos);
    CHECK(ran(key, {}).starts_with("2: "));
}
