#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/ended.hpp"
#include "support/mentions.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::mentions;
using test::run;
using test::RunningBus;

namespace {

void flip_a_bit(const std::filesystem::path& file, std::size_t at) {
    std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
    bytes.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(bytes.get() ^ 1);
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(byte);
    REQUIRE(bytes.good());
}

/// A bus that was killed with some events. One bit in the middle of its log is wrong.
struct DamagedBus {
    explicit DamagedBus(std::vector<std::string> flags = {})
        : bus{folder.path(), std::move(flags)} {
        for (int i = 0; i < 50; ++i) {
            REQUIRE(bus.publish("orders", "https://shop.example/" + std::to_string(i)).status ==
                    200);
        }
        bus.kill();
        const auto log = file + "-wal";
        flip_a_bit(log, std::filesystem::file_size(log) / 2);
    }

    const test::TemporaryFolder folder;
    const std::string file = (folder.path() / "routemaster.db").string();
    RunningBus bus;
};

}  // namespace

TEST_CASE("a bus with a damaged log starts only after a repair or with a flag") {
    DamagedBus damaged;
    test::Process refused{damaged.bus.command()};
    CHECK(refused.wait() == 1);
    CHECK(mentions(refused.errors(), "its write-ahead log is damaged behind byte"));
    CHECK(mentions(refused.errors(), "accept_damage=1"));
    const auto checked = run({"check", damaged.file});
    CHECK(checked.status == 1);
    CHECK(mentions(checked.output, "damaged"));

    SUBCASE("the file is repaired") {
        const auto repaired = run({"check", "--repair", damaged.file});
        CHECK(repaired.status == 0);
        CHECK(mentions(repaired.output, "whole"));
        CHECK(mentions(repaired.errors, "kept as " + damaged.file + "-wal.damaged\n"));
        damaged.bus.start();
    }
    SUBCASE("the damage is accepted by a flag") {
        auto command = damaged.bus.command();
        command.emplace_back("--accept-damage");
        test::Process accepted{command};
        CHECK(mentions(accepted.line(), "listening"));
        accepted.signal(SIGTERM);
        CHECK(accepted.wait() == 0);
        const auto log = accepted.errors();
        const auto warned_at = log.find("its write-ahead log is damaged behind byte");
        REQUIRE(warned_at != std::string::npos);
        CHECK(mentions(log.substr(0, warned_at), "WARN"));
        CHECK(mentions(log, "kept as " + damaged.file + "-wal.damaged\n"));
        damaged.bus.start();
    }
    CHECK(std::filesystem::exists(damaged.file + "-wal.damaged"));
    CHECK(damaged.bus.publish("orders", "https://shop.example/new").status == 200);
    CHECK(damaged.bus.stop() == 0);
    CHECK(run({"check", damaged.file}).status == 0);
}

TEST_CASE(
    "the saved copy of a damaged log overwrites no earlier copy, and follows no symbolic link") {
    const DamagedBus damaged;
    const auto copy = damaged.file + "-wal.damaged";
    const auto elsewhere = (damaged.folder.path() / "elsewhere").string();
    std::ofstream{copy} << "the first";
    std::filesystem::create_symlink(elsewhere, copy + "-2");
    const auto repaired = run({"check", "--repair", damaged.file});
    CHECK(repaired.status == 0);
    CHECK(mentions(repaired.errors, "kept as " + copy + "-3\n"));
    CHECK(std::filesystem::file_size(copy) == 9);
    CHECK_FALSE(std::filesystem::exists(elsewhere));
    CHECK(std::filesystem::file_size(copy + "-3") > 4'096);
}

TEST_CASE("repairing changes no intact file, and creates no missing file") {
    const test::TemporaryFolder folder;
    const auto file = (folder.path() / "routemaster.db").string();
    CHECK(run({"check", "--repair", file}).status == 1);
    CHECK_FALSE(std::filesystem::exists(file));
    RunningBus bus{folder.path()};
    REQUIRE(bus.publish("orders", "https://shop.example/1").status == 200);
    CHECK(bus.stop() == 0);
    const auto repaired = run({"check", "--repair", file});
    CHECK(repaired.status == 0);
    CHECK(mentions(repaired.output, "whole"));
    CHECK_FALSE(std::filesystem::exists(file + "-wal.damaged"));
}

TEST_CASE("the flag that accepts damage of a log is refused for a store without a file") {
    const auto refused = run({"serve", "--root-key", "r", "--store", "memory:", "--accept-damage"});
    CHECK(refused.status == 2);
    CHECK(mentions(refused.errors, "--accept-damage"));
}
