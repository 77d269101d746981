/// @file
/// The sources of settings (files, variables and flags), and their display in the log.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/bus_front.hpp"
#include "support/mentions.hpp"
#include "support/running_bus.hpp"
#include "support/running_fleet.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::mentions;

namespace {

using Environment = test::Process::Environment;

const std::string sample = std::string{ROUTEMASTER_SOURCE_DIR} + "/docs/routemaster.toml";

constexpr const char* name_characters = "abcdefghijklmnopqrstuvwxyz0123456789-";

/// A bus in memory on a free port, with further settings.
test::Process serve(const std::vector<std::string>& flags, const Environment& environment = {}) {
    std::vector<std::string> command{
        test::routemaster_binary, "serve", "--listen", "127.0.0.1:0", "--store", "memory:"};
    command.insert(command.end(), flags.begin(), flags.end());
    return test::Process{command, environment};
}

bool takes_key(test::Process& process, const std::string& key) {
    test::HttpClient client{test::announced_port(process.line())};
    return client.ask("GET", "/topics", {}, test::authorization(key)).status == 200;
}

/// The names of settings at the beginnings of lines, with or without a `#`.
std::set<std::string> settings_of_sample() {
    std::set<std::string> found;
    std::ifstream file{sample};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) line.erase(0, 1);
        const auto end = line.find_first_not_of(name_characters);
        if (end != 0 && end != std::string::npos && line.substr(end).starts_with(" = ")) {
            found.insert(line.substr(0, end));
        }
    }
    return found;
}

/// The flags in a program's help.
std::set<std::string> flags_of(const std::vector<std::string>& command) {
    test::Process process{command};
    CHECK(process.wait() == 0);
    std::set<std::string> found;
    std::istringstream help{process.output()};
    for (std::string line; std::getline(help, line);) {
        if (!line.starts_with("  --")) continue;
        line.erase(0, 4);
        found.insert(line.substr(0, line.find_first_not_of(name_characters)));
    }
    found.erase("config");
    found.erase("version");
    return found;
}

}  // namespace

TEST_CASE("the sample settings file has every setting, and is accepted") {
    const auto settings = settings_of_sample();
    CHECK(settings == flags_of({test::routemaster_binary, "serve", "--help"}));
    for (const auto& program : {test::web_binary, test::worker_binary}) {
        for (const auto& flag : flags_of({program, "--help"})) {
            CAPTURE(flag);
            CHECK(settings.contains(flag));
        }
    }
    auto process = serve({"--config", sample, "--root-key", "5ecret"});
    CHECK_MESSAGE(takes_key(process, "5ecret"), process.errors());
    // The log lists settings that differ from their defaults. No setting in the file does.
    CHECK(mentions(process.errors(), "INFO: settings: config=" + sample +
                                         " (command line), store=memory: (command line), "
                                         "listen=127.0.0.1:0 (command line), "
                                         "root-key=*** (command line)\n"));
}

TEST_CASE("at its start a service logs the sources of its settings, without secrets") {
    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "bus.toml").string();
    std::ofstream{file} << "body-max = \"5MB\"\nclients = [\"a--5ecret\", \"b--5ecret\"]\n"
                           "port = 1\nstop-grace = 8.0\ntopics-max = 7\n";
    auto process =
        serve({"--config", file, "--log-level=INFO"}, {{"ROUTEMASTER_ROOT_KEY", "5ecret"},
                                                       {"PORT", "8080"},
                                                       {"RACK_ENV", "staging"},
                                                       {"ROUTEMASTER_TOPICS_MAX", ""}});
    REQUIRE(takes_key(process, "b--5ecret"));
    const auto log = process.errors();
    CAPTURE(log);
    CHECK(mentions(log, "body-max=5000000 (" + file + ":1)"));
    CHECK(mentions(log, "clients=*** (" + file + ":2)"));
    CHECK(mentions(log, "topics-max=7 (" + file + ":5)"));
    CHECK(mentions(log, "root-key=*** (ROUTEMASTER_ROOT_KEY)"));
    CHECK(mentions(log, "port=8080 (PORT)"));
    CHECK(mentions(log, "environment=staging (RACK_ENV)"));
    CHECK(mentions(log, "listen=127.0.0.1:0 (command line)"));
    CHECK(!mentions(log, "stop-grace"));
    CHECK(!mentions(log, "delivery-timeout"));
}

TEST_CASE("a value of the wrong type is refused with the type of the setting") {
    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "bus.toml").string();
    const auto refusal_of = [&](const std::string& line) {
        std::ofstream{file} << line << '\n';
        auto process = serve({"--config", file, "--root-key", "r"});
        CHECK(process.wait() == 2);
        return process.errors();
    };
    const auto begin = "routemaster serve: --config: " + file + ":1: ";
    CHECK(refusal_of("connections-max = true") ==
          begin + "connections-max: must be a whole number, not true or false\n");
    CHECK(refusal_of("deliveries-max = 1.5") ==
          begin + "deliveries-max: must be a whole number, not a fraction\n");
    CHECK(refusal_of("deliveries-max = 'many'") ==
          begin + "deliveries-max: must be a whole number, not a text\n");
    CHECK(refusal_of("connect-timeout = 'x'") ==
          begin + "connect-timeout: must be a number, not a text\n");
    CHECK(refusal_of("connect-timeout = 1979-05-27") ==
          begin + "connect-timeout: must be a number, not a date or a time\n");
    CHECK(refusal_of("allow-http-callbacks = 3") ==
          begin + "allow-http-callbacks: must be true or false, not a whole number\n");
    CHECK(refusal_of("allow-http-callbacks = 'maybe'") ==
          begin + "allow-http-callbacks: must be true or false, not a text\n");
    CHECK(refusal_of("log-file = ['a', 'b']") ==
          begin + "log-file: must be one value, not a list\n");
    CHECK(refusal_of("clients = [[1]]") ==
          begin + "clients: must be a list of texts, not a list\n");
    CHECK(refusal_of("log-file = 07:32:00") ==
          begin + "log-file: must be a text, not a date or a time\n");
}

TEST_CASE("the root key may be in a file of its own") {
    const test::TemporaryFolder folder;
    const auto file = folder.path() / "root-key";
    std::ofstream{file} << "5ecret\nand a remark\n";
    const auto by_variable = Environment{{"ROUTEMASTER_ROOT_KEY_FILE", file.string()}};
    SUBCASE("the file is named by a flag") {
        auto process = serve({"--root-key-file", file.string()});
        CHECK(takes_key(process, "5ecret"));
    }
    SUBCASE("the file is named by a variable") {
        auto process = serve({}, by_variable);
        CHECK(takes_key(process, "5ecret"));
    }
    SUBCASE("the file belongs to a web process") {
        test::Process process{{test::web_binary, "--store", "redis://127.0.0.1:1/?timeout=50"},
                              by_variable};
        CHECK(process.wait() == 1);
    }
    SUBCASE("the file has no line end, or ends lines as another system does") {
        std::ofstream{file} << "5ecret\r\n";
        auto process = serve({}, by_variable);
        CHECK(takes_key(process, "5ecret"));
    }
}

TEST_CASE("a file with secrets that other users can read causes a warning") {
    using std::filesystem::perms;
    const test::TemporaryFolder folder;
    const auto file = folder.path() / "secrets";
    std::ofstream{file} << "root-key = \"5ecret\"\n";
    const auto warns = [&](perms mode, const std::vector<std::string>& flags) {
        std::filesystem::permissions(file, mode);
        auto process = serve(flags);
        static_cast<void>(process.line());
        return mentions(process.errors(),
                        "WARN: " + file.string() + " contains secrets and others can read it");
    };
    const std::vector<std::string> config{"--config", file.string()};
    const std::vector<std::string> key{"--root-key-file", file.string()};
    for (const auto& flags : {config, key}) {
        CHECK(warns(perms::owner_all | perms::group_read, flags));
        CHECK(warns(perms::owner_read | perms::others_read, flags));
        CHECK(!warns(perms::owner_read | perms::owner_write, flags));
    }
    std::ofstream{file} << "port = 1\n";
    CHECK_MESSAGE(!warns(perms::all, {"--config", file.string(), "--root-key", "5ecret"}),
                  "there is no secret in it");
}
