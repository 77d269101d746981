#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/running_bus.hpp"
#include "support/small_disk.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

namespace {

/// The error of a bus that cannot start.
struct Refusal {
    int status = 0;
    std::string output;
    std::string complaint;

    [[nodiscard]] bool names(const std::string& what) const {
        return complaint.find(what) != std::string::npos;
    }
    [[nodiscard]] bool is_one_line() const {
        return std::count(complaint.begin(), complaint.end(), '\n') == 1;
    }
};

Refusal refusal_of(const std::vector<std::string>& flags,
                   const test::Process::Environment& environment = {}) {
    std::vector<std::string> command{test::routemaster_binary, "serve"};
    command.insert(command.end(), flags.begin(), flags.end());
    test::Process process{command, environment};
    const int status = process.wait();
    return {status, process.output(), process.errors()};
}

Refusal refusal_to_open(const std::filesystem::path& folder) {
    return refusal_of(
        {"--listen", "127.0.0.1:0", "--root-key", "r", "--data-dir", folder.string()});
}

/// Makes a folder with the file of a bus that was used and stopped.
void leave_a_file(const std::filesystem::path& folder) {
    RunningBus bus{folder};
    REQUIRE(
        bus.subscribe("billing", R"(["orders"])", "https://billing.example", R"("timeout":9999)")
            .status == 204);
    for (int i = 0; i < 50; ++i) {
        REQUIRE(bus.publish("orders", "https://shop.example/" + std::to_string(i)).status == 200);
    }
    REQUIRE(bus.stop() == 0);
}

void overwrite(const std::filesystem::path& file, std::streamoff at, const std::string& bytes) {
    std::fstream stream{file, std::ios::in | std::ios::out | std::ios::binary};
    stream.seekp(at);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(stream.flush());
}

}  // namespace

TEST_CASE(
    "a file in use is refused in one line with its name, and the process that uses it is not "
    "affected") {
    const test::TemporaryFolder folder;
    RunningBus bus{folder.path()};
    const auto second = refusal_to_open(folder.path());
    CHECK(second.status == 1);
    CHECK(second.is_one_line());
    CHECK(second.names((folder.path() / "routemaster.db").string()));
    CHECK(second.names("in use"));
    CHECK(second.output.empty());
    CHECK(bus.publish("orders", "https://shop.example/1").status == 200);
    CHECK(bus.stop() == 0);
}

TEST_CASE("a data folder whose name a URL cannot contain is refused in one line with the reason") {
    const test::TemporaryFolder folder;
    const auto refused = refusal_to_open(folder.path() / "a?b");
    CHECK(refused.status == 2);
    CHECK(refused.is_one_line());
    CHECK(refused.names("--data-dir"));
    CHECK(refused.names("must not contain '?'"));
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a data folder may begin with two slashes, or contain characters that URLs escape") {
    const test::TemporaryFolder folder;
    for (const std::string name : {"a&b", "a%3Fb", "a b#c"}) {
        const std::filesystem::path there{"/" + (folder.path() / name).string()};
        RunningBus bus{there};
        REQUIRE(bus.publish("orders", "https://shop.example/1").status == 200);
        CHECK(bus.stop() == 0);
        CHECK(std::filesystem::exists(folder.path() / name / "routemaster.db"));
    }
}

TEST_CASE(
    "a file of a newer format version is refused in one line with its name, and not changed") {
    const test::TemporaryFolder folder;
    leave_a_file(folder.path());
    const auto file = folder.path() / "routemaster.db";
    // SQLite stores the user version here, with the highest byte first.
    overwrite(file, 60, std::string{"\0\0\0\x63", 4});
    const auto size = std::filesystem::file_size(file);
    const auto newer = refusal_to_open(folder.path());
    CHECK(newer.status == 2);
    CHECK(newer.is_one_line());
    CHECK(newer.names(file.string()));
    CHECK(newer.names("99"));
    CHECK(std::filesystem::file_size(file) == size);

    overwrite(file, 60, std::string{"\0\0\0\x01", 4});
    const RunningBus bus{folder.path()};
    CHECK(bus.ask("GET", "/subscribers", test::root_key).body.find(R"("queued":50)") !=
          std::string::npos);
}

TEST_CASE("a damaged file is refused in one line with its name") {
    const test::TemporaryFolder folder;
    leave_a_file(folder.path());
    const auto file = folder.path() / "routemaster.db";
    const auto size = std::filesystem::file_size(file);
    SUBCASE("the damage is in the middle") {
        overwrite(file, static_cast<std::streamoff>(size / 2), std::string(2'000, 'x'));
    }
    SUBCASE(
        "everything after the header is "
        "damaged") {
        overwrite(file, 100, std::string(size - 100, 'x'));
    }
    // Then the setting for the file is wrong.
    const bool foreign = [&] {
        SUBCASE("the file was never a database") {
            overwrite(file, 0, std::string(size, 'x'));
            return true;
        }
        return false;
    }();
    const auto damaged = refusal_to_open(folder.path());
    CHECK(damaged.status == (foreign ? 2 : 1));
    CHECK(damaged.is_one_line());
    CHECK(damaged.names(file.string()));
}

TEST_CASE("a file that cannot be opened is refused in one line with its name") {
    const test::TemporaryFolder folder;
    SUBCASE("the file is a folder") {
        std::filesystem::create_directory(folder.path() / "routemaster.db");
        const auto refusal = refusal_to_open(folder.path());
        CHECK(refusal.status == 2);
        CHECK(refusal.is_one_line());
        CHECK(refusal.names((folder.path() / "routemaster.db").string()));
    }
    SUBCASE("the parent of the file is a file") {
        std::ofstream{folder.path() / "file"} << "x";
        const auto refusal = refusal_to_open(folder.path() / "file");
        CHECK(refusal.status == 2);
        CHECK(refusal.is_one_line());
        CHECK(refusal.names((folder.path() / "file").string()));
    }
    SUBCASE("the store URL is unknown") {
        const auto refusal =
            refusal_of({"--listen", "127.0.0.1:0", "--root-key", "r", "--store", "tape:1"});
        CHECK(refusal.status == 2);
        CHECK(refusal.is_one_line());
        CHECK(refusal.names("tape:1"));
    }
}

TEST_CASE("a data folder is created, and its missing parent is not") {
    const test::TemporaryFolder folder;
    const auto missing = folder.path() / "busses";
    for (const auto* const name : {"bus-data", "bus-data/"}) {
        const auto refusal = refusal_to_open(missing / name);
        CHECK(refusal.status == 2);
        CHECK(refusal.is_one_line());
        CHECK(refusal.names("--data-dir"));
        CHECK(refusal.names("there is no folder " + missing.string() + ";"));
    }
    CHECK(!std::filesystem::exists(missing));
    const RunningBus bus{folder.path() / "bus-data"};
    CHECK(std::filesystem::exists(folder.path() / "bus-data" / "routemaster.db"));
}

TEST_CASE("a bus whose file cannot be written ends at its start") {
    const test::SmallDisk disk{16};
    if (!disk.available()) return;
    leave_a_file(disk.path());
    REQUIRE(disk.make_read_only());
    const auto refusal = refusal_to_open(disk.path());
    CHECK(refusal.status == 1);
    CHECK(refusal.is_one_line());
    CHECK(refusal.names((disk.path() / "routemaster.db").string()));
    CHECK(refusal.names("cannot be written"));
}

TEST_CASE("a port in use is refused in one line with its number") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const auto address = "127.0.0.1:" + std::to_string(bus.port());
    const auto second = refusal_of({"--listen", address, "--root-key", "r", "--store", "memory:"});
    CHECK(second.status == 1);
    CHECK(second.is_one_line());
    CHECK(second.names(address));
}

TEST_CASE("without a root key the bus does not start") {
    const auto refusal = refusal_of({"--store", "memory:"});
    CHECK(refusal.status == 2);
    CHECK(refusal.is_one_line());
    CHECK(refusal.names("ROUTEMASTER_ROOT_KEY"));
}
