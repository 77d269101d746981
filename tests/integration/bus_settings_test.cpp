#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/batch_receiver.hpp"
#include "support/mentions.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::mentions;

namespace {

using Environment = test::Process::Environment;

/// A bus that has only these settings.
struct Configured {
    explicit Configured(const std::vector<std::string>& flags, const Environment& environment = {})
        : process{command(flags), environment}, port{test::announced_port(process.line())} {}

    static std::vector<std::string> command(const std::vector<std::string>& flags) {
        std::vector<std::string> words{
            test::routemaster_binary, "serve", "--listen", "127.0.0.1:0", "--store", "memory:"};
        words.insert(words.end(), flags.begin(), flags.end());
        return words;
    }

    [[nodiscard]] bool takes_root_key(const std::string& key) const {
        test::HttpClient client{port};
        return client.ask("GET", "/pulse", {}, test::authorization(key)).status == 204;
    }

    test::Process process;
    std::uint16_t port;
};

std::string complaint_about(const std::vector<std::string>& flags,
                            const Environment& environment = {}) {
    test::Process process{Configured::command(flags), environment};
    CHECK(process.wait() == 2);
    const auto complaint = process.errors();
    CHECK(std::count(complaint.begin(), complaint.end(), '\n') == 1);
    return complaint;
}

}  // namespace

TEST_CASE("a flag wins over a variable, and a variable over the file") {
    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "bus.toml").string();
    std::ofstream{file} << "root-key = \"of-the-file\"\nstop-grace = 3  # seconds\n";
    const Environment variable{{"ROUTEMASTER_ROOT_KEY", "of-the-variable"}};

    const Configured from_file{{"--config", file}};
    CHECK(from_file.takes_root_key("of-the-file"));

    const Configured from_variable{{"--config", file}, variable};
    CHECK(from_variable.takes_root_key("of-the-variable"));
    CHECK_FALSE(from_variable.takes_root_key("of-the-file"));

    const Configured from_flag{{"--config", file, "--root-key", "of-the-flag"}, variable};
    CHECK(from_flag.takes_root_key("of-the-flag"));
    CHECK_FALSE(from_flag.takes_root_key("of-the-variable"));
}

TEST_CASE("the variables of Ruby Routemaster are read") {
    const test::TemporaryFolder folder;
    const auto log = (folder.path() / "bus.log").string();
    test::BatchReceiver receiver;
    Configured bus{{"--allow-http-callbacks"},
                   {{"ROUTEMASTER_ROOT_KEY", "r"},
                    {"ROUTEMASTER_CLIENTS", "shop--5ecret,billing"},
                    {"ROUTEMASTER_LOG_FILE", log},
                    {"ROUTEMASTER_LOG_LEVEL", "DEBUG"},
                    {"ROUTEMASTER_MAX_EVENT_DATA", "10"},
                    {"ROUTEMASTER_TIMEOUT", "0.2"},
                    {"MAX_BACKOFF_MS", "1"},
                    {"ROUTEMASTER_SSL_VERIFY", "no"}}};
    const auto ask = [&](const std::string& method, const std::string& path,
                         const std::string& token, const std::string& body = {}) {
        test::HttpClient client{bus.port};
        return client.ask(method, path, body, test::authorization(token));
    };
    CHECK(ask("GET", "/api_tokens", "r").body ==
          R"([{"name":"billing","token":"billing"},{"name":"shop","token":"shop--5ecret"}])");
    CHECK(ask("POST", "/topics/orders", "shop--5ecret",
              R"({"type":"noop","url":"https://a.example","data":{"a":"12345678"}})")
              .status == 400);

    // A delivery that exceeds the timeout fails, and is repeated soon.
    receiver.pause();
    REQUIRE(ask("POST", "/subscription", "billing",
                R"({"topics":["orders"],"max":1,"callback":")" + receiver.url() + R"("})")
                .status == 204);
    REQUIRE(ask("POST", "/topics/orders", "shop--5ecret",
                R"({"type":"noop","url":"https://a.example","data":{"a":1}})")
                .status == 200);
    REQUIRE(receiver.await_deliveries(3));
    receiver.resume();
    bus.process.signal(SIGTERM);
    CHECK(bus.process.wait() == 0);
    CHECK(bus.process.errors().empty());

    std::ifstream stream{log};
    const std::string lines{std::istreambuf_iterator<char>{stream}, {}};
    CHECK(mentions(lines, "WARN: failed to deliver 1 events to 'bill…', attempt 1: "));
    CHECK(mentions(lines, "INFO: stopped\n"));
    CHECK(test::secret_in(lines, {"billing"}).empty());
}

TEST_CASE("the variable PORT sets the port to listen on") {
    // A port that was free just now.
    const auto port = [] {
        const test::BatchReceiver brief;
        return brief.url("").substr(std::string{"http://127.0.0.1:"}.size());
    }();
    test::Process process{
        {test::routemaster_binary, "serve", "--store", "memory:", "--root-key", "r"},
        {{"PORT", port}}};
    CHECK(process.line() == "routemaster: listening on http://127.0.0.1:" + port);
}

TEST_CASE("the address and the port to listen on can be set by flags") {
    std::vector<std::string> words{
        test::routemaster_binary, "serve", "--store", "memory:", "--root-key", "r"};
    std::string url = "http://127.0.0.2:";
    SUBCASE("the address is set by a flag") {
        words.insert(words.end(), {"--listen", "127.0.0.2:0"});
    }
    SUBCASE("the port is set by a flag") {
        // A port that was free just now.
        const auto port = [] {
            const test::BatchReceiver brief;
            return brief.url("").substr(std::string{"http://127.0.0.1:"}.size());
        }();
        words.insert(words.end(), {"--port", port});
        url = "http://127.0.0.1:" + port;
    }
    test::Process process{words};
    CHECK(process.line().starts_with("routemaster: listening on " + url));
}

TEST_CASE("an invalid setting is refused with its names") {
    const Environment root{{"ROUTEMASTER_ROOT_KEY", "r"}};
    const auto with = [&](const std::string& variable, const std::string& value) {
        Environment environment = root;
        environment[variable] = value;
        return complaint_about({}, environment);
    };
    CHECK(mentions(with("PORT", "99999"), "--port (PORT): "));
    CHECK(mentions(with("MAX_BACKOFF_MS", "0"), "--max-backoff (MAX_BACKOFF_MS): "));
    CHECK(mentions(with("ROUTEMASTER_HP_DAMAGE_RATE", "1"), "(ROUTEMASTER_HP_DAMAGE_RATE)"));
    CHECK(mentions(with("ROUTEMASTER_HP_HEAL_RATE", "fast"), "(ROUTEMASTER_HP_HEAL_RATE)"));
    CHECK(mentions(with("ROUTEMASTER_SSL_VERIFY", "perhaps"), "(ROUTEMASTER_SSL_VERIFY)"));
    CHECK(mentions(with("ROUTEMASTER_LOG_LEVEL", "loud"), "(ROUTEMASTER_LOG_LEVEL)"));
    // Errors say what is expected, and what was there instead.
    CHECK(mentions(with("PORT", "abc"),
                   "--port (PORT): must be a whole number from 0 to 65535, not 'abc'"));
    CHECK(mentions(with("ROUTEMASTER_IDLE_TIMEOUT", "1h"),
                   "must be a number of seconds from 0.001 to 600, not '1h'"));
    CHECK(mentions(with("ROUTEMASTER_IDLE_TIMEOUT", "nan"), "not 'nan'"));
    CHECK(mentions(with("ROUTEMASTER_MIXED_FLEET", "abc"),
                   "--mixed-fleet (ROUTEMASTER_MIXED_FLEET): must be true or false, not 'abc'"));
    CHECK(mentions(with("ROUTEMASTER_SSL_VERIFY", "perhaps"),
                   "must be true or false, not 'perhaps'"));
    CHECK(mentions(complaint_about({"--body-max", "2GiB"}, root),
                   "must be a whole number from 1 to 1073741824, not '2147483648'"));
    CHECK(mentions(complaint_about({"--listen", "localhost:1"}, root), "--listen"));
    CHECK(mentions(complaint_about({"--colour", "red"}, root), "--colour"));

    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "bus.toml").string();
    const auto complaint_about_file = [&](const std::string& text) {
        std::ofstream{file} << text << '\n';
        return complaint_about({"--config", file}, root);
    };
    CHECK(mentions(complaint_about({"--config", file + ".none"}, root), "bus.toml.none"));

    // Errors name the line and the setting.
    const auto refuses = [&](const std::string& text, const std::string& place,
                             const std::string& what) {
        const auto complaint = complaint_about_file(text);
        CAPTURE(complaint);
        CHECK(mentions(complaint, place));
        CHECK(mentions(complaint, what));
    };
    refuses("\ncolour = \"red\"", file + ":2: ", "'colour'");
    refuses("# none\n\nbody-max = 0", "--body-max (" + file + ":3): ", "0");
    refuses("port = \"x\"", file + ":1: port: ", "a whole number");
    refuses("port = 65536", "--port (" + file + ":1): ", "65536");
    refuses("port = 1\nport = 2", file + ":2: ", "port");
    refuses("port = [1, 2]", file + ":1: port: ", "one value");
    refuses("port = 2026-01-31", file + ":1: ", "port");
    refuses("log-file \"x\"", file + ":1: ", "'='");
    refuses("body-max = \"5XB\"", "--body-max (" + file + ":1): ", "'5XB'");
    refuses("clients = [\"good\", \"No Good 5ecret\"]", "--clients (" + file + ":1): ", "'No G…'");
    refuses("clients = [\"shop:1\"]",
            "--clients (" + file + ":1): ", "':' is not allowed in an HTTP Basic user name");
    SUBCASE("sections in the settings file are refused") {
        refuses("\n[log]\nlevel = \"debug\"", file + ":2: [log]: ", "no sections");
        refuses("log.level = \"debug\"", file + ":1: [log]: ", "no sections");
        refuses("[[log]]", file + ":1: [log]: ", "no sections");
    }
    SUBCASE("an error about an old name suggests the new name") {
        refuses("memory-max = 5", file + ":1: ", "'drop-oldest-above'");
        refuses("memory-free-min = 5", file + ":1: ", "'drop-oldest-free'");
        CHECK(mentions(complaint_about({"--memory-max", "5"}, root), "'--drop-oldest-above'"));
        CHECK(mentions(complaint_about({"--memory-free-min=5"}, root), "'--drop-oldest-free'"));
    }
    SUBCASE("settings that turn out to be invalid in use are refused as well") {
        const auto refuses_store = [&](const std::string& url, const std::string& what) {
            test::Process process{
                {test::routemaster_binary, "serve", "--root-key", "r", "--store", url}};
            CHECK(process.wait() == 2);
            const auto complaint = process.errors();
            CAPTURE(complaint);
            CHECK(mentions(complaint, "serve: --store (ROUTEMASTER_STORE): "));
            CHECK(mentions(complaint, what));
        };
        refuses_store("tape:1", "'tape:1'");
        refuses_store("reddis://u:5ecret@a", "'reddis://***@a'");
        refuses_store("redis://u:5ecret/x@a", "%2F");
        refuses_store("file:x?sync=1", "durability=");
        refuses_store("rediss://127.0.0.1:1/?ca_file=/no/such", "'/no/such'");
        CHECK(mentions(complaint_about({"--log-file", "/proc/no/such"}, root),
                       "--log-file (ROUTEMASTER_LOG_FILE): there is no folder /proc/no"));
        const auto missing = folder.path() / "logs";
        CHECK(
            mentions(complaint_about({"--log-file", (missing / "bus.log").string()}, root),
                     "--log-file (ROUTEMASTER_LOG_FILE): there is no folder " + missing.string()));
        CHECK_FALSE(std::filesystem::exists(missing));
        CHECK(mentions(complaint_about({"--drop-oldest-free", "10"}, root),
                       "--drop-oldest-free (ROUTEMASTER_DROP_OLDEST_FREE) requires"));
        CHECK(mentions(
            complaint_about({"--drop-oldest-above", "10", "--drop-oldest-free", "10"}, root),
            "--drop-oldest-free (ROUTEMASTER_DROP_OLDEST_FREE): "));
        CHECK(mentions(complaint_about({"--root-key-file", "/no/such"}), "/no/such: No such file"));
        CHECK(mentions(complaint_about({"--root-key-file", file}, root), "--root-key-file"));
        std::ofstream{file} << "\nkey\n";
        CHECK(mentions(complaint_about({"--root-key-file", file}),
                       file + ": its first line is empty"));
    }
}

TEST_CASE("a bus takes no callback on this machine or over http by default") {
    std::vector<std::string> flags{"--root-key", "r", "--clients", "billing"};
    bool taken = false;
    SUBCASE("the settings have their defaults") {}
    SUBCASE("the settings allow these callbacks") {
        flags.emplace_back("--allow-http-callbacks");
        taken = true;
    }
    const Configured bus{flags};
    test::HttpClient client{bus.port};
    for (const auto* callback :
         {"https://127.0.0.1/events", "http://billing.example/events", "https://localhost"}) {
        const auto body = R"({"topics":["orders"],"callback":")" + std::string{callback} + R"("})";
        const auto reply =
            client.ask("POST", "/subscription", body, test::authorization("billing"));
        CHECK(reply.status == (taken ? 204 : 400));
    }
}

TEST_CASE("the log has the lines of its set level and of more severe levels") {
    const auto log_of = [](const std::vector<std::string>& flags) {
        test::BatchReceiver receiver;
        std::vector<std::string> all{"--root-key", "r", "--clients", "shop,billing",
                                     "--allow-http-callbacks"};
        all.insert(all.end(), flags.begin(), flags.end());
        Configured bus{all};
        test::HttpClient client{bus.port};
        const auto body = R"({"topics":["orders"],"max":1,"callback":")" + receiver.url() + R"("})";
        REQUIRE(client.ask("POST", "/subscription", body, test::authorization("billing")).status ==
                204);
        receiver.answer({500});
        REQUIRE(client
                    .ask("POST", "/topics/orders", R"({"type":"noop","url":"https://a.example"})",
                         test::authorization("shop"))
                    .status == 200);
        REQUIRE(receiver.await_event("https://a.example"));
        bus.process.signal(SIGTERM);
        CHECK(bus.process.wait() == 0);
        return bus.process.errors();
    };
    const auto usual = log_of({});
    CHECK(mentions(usual, "INFO: started on memory:\n"));
    CHECK(mentions(usual, "WARN: failed to deliver"));
    CHECK(!mentions(usual, "DEBUG: "));
    CHECK(mentions(log_of({"--log-level", "debug"}), "DEBUG: delivered 1 events to 'bill…'\n"));
    const auto warnings = log_of({"--log-level", "warn"});
    CHECK(mentions(warnings, "WARN: failed to deliver"));
    CHECK(!mentions(warnings, "INFO: "));
    CHECK(log_of({"--log-level", "error"}).empty());
}

TEST_CASE("a bus with an invalid client token does not start") {
    test::Process process{{test::routemaster_binary, "serve", "--listen", "127.0.0.1:0", "--store",
                           "memory:", "--root-key", "r", "--clients", "good,No Good"}};
    CHECK(process.wait() == 2);
    CHECK(mentions(process.errors(), "--clients (ROUTEMASTER_CLIENTS): 'No G…'"));
}

TEST_CASE(
    "a bus with --refuse-above refuses events above the limit of memory, and drops no batch") {
    const Configured bus{{"--root-key", "root", "--clients", "shop--1,billing--1", "--refuse-above",
                          "1000", "--allow-http-callbacks"}};
    test::HttpClient client{bus.port};
    const auto billing = test::authorization("billing--1");
    REQUIRE(client
                .ask("POST", "/subscription",
                     R"({"topics":["orders"],"callback":"http://127.0.0.1:1/","uuid":"b",)"
                     R"("timeout":3600000,"max":1000})",
                     billing)
                .status == 204);
    const std::string event =
        R"({"type":"create","url":"https://shop.example/1","timestamp":1700000000000})";
    int taken = 0;
    int status = 0;
    while (taken < 1'000) {
        status = client.ask("POST", "/topics/orders", event, test::authorization("shop--1")).status;
        if (status != 204 && status != 200) break;
        ++taken;
    }
    CHECK(status == 503);
    CHECK(taken >= 10);
    CHECK(taken < 30);
    const auto topics = client.ask("GET", "/topics", {}, test::authorization("root")).body;
    CHECK(topics.find("\"events\":" + std::to_string(taken)) != std::string::npos);
}

TEST_CASE("settings decide which topics and URLs events may have") {
    const auto status = [](const Configured& bus, const std::string& topic,
                           const std::string& event) {
        test::HttpClient client{bus.port};
        return client.ask("POST", "/topics/" + topic, event, test::authorization("shop--1")).status;
    };
    const std::string plain = R"({"type":"create","url":"https://shop.example/1"})";
    const std::string free = R"({"type":"create","url":"urn:order:1"})";
    const std::string bare = R"({"type":"create","data":{"id":1}})";
    const std::vector<std::string> keys{"--root-key", "r", "--clients", "shop--1"};
    SUBCASE("by default any topic and only https URLs are accepted") {
        const Configured bus{keys};
        CHECK(status(bus, "orders.v2", plain) == 200);
        CHECK(status(bus, "orders", free) == 400);
        CHECK(status(bus, "orders", bare) == 400);
    }
    SUBCASE(
        "topics are restricted to Ruby Routemaster's rule, and any URL, or data without a URL, is "
        "accepted") {
        const Configured bus{
            keys, {{"ROUTEMASTER_TOPIC_NAMES", "ruby"}, {"ROUTEMASTER_EVENT_URLS", "any"}}};
        CHECK(status(bus, "orders.v2", plain) == 400);
        CHECK(status(bus, "orders", plain) == 200);
        CHECK(status(bus, "orders", free) == 200);
        CHECK(status(bus, "orders", bare) == 200);
    }
    SUBCASE("other values of the settings are refused") {
        CHECK(
            mentions(complaint_about({"--root-key", "r", "--event-urls", "http"}), "--event-urls"));
        CHECK(mentions(complaint_about({"--root-key", "r", "--topic-names", "all"}),
                       "--topic-names"));
    }
}

TEST_CASE("a root key that no client could send is refused as an invalid setting") {
    CHECK(mentions(complaint_about({"--root-key", "a:b"}),
                   "--root-key (ROUTEMASTER_ROOT_KEY): must not contain ':'"));
}
