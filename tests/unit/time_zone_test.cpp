#include "core/schedule/time_zone.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using detail::TimeZone;
using detail::ZoneFile;

namespace {

/// Runs a command of the C library. Some of these commands are in the administrator's folders.
std::string run(const std::string& command) {
    test::Process process{{"sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; " + command}};
    const auto status = process.wait();
    REQUIRE_MESSAGE(status == 0, command, ": ", process.errors());
    return process.output();
}

/// A line of `zdump -v`: `PATH  Sun Mar 31 00:59:59 1996 UT = Sun … CET isdst=0 gmtoff=3600`.
struct DumpedInstant {
    std::int64_t at = 0;
    std::int64_t offset = 0;
};

/// The last second before each step of a zone, and the first second after it.
std::vector<DumpedInstant> dump(const std::string& path) {
    std::istringstream lines{run("zdump -v -c 1970,2100 " + path)};
    std::vector<DumpedInstant> all;
    for (std::string line; std::getline(lines, line);) {
        const auto offset = line.find("gmtoff=");
        // The first two lines and the last two are about the ends of the range.
        if (offset == std::string::npos || line.find("-9223372") != std::string::npos) continue;
        std::tm fields{};
        if (strptime(line.c_str() + path.size(), " %a %b %d %H:%M:%S %Y UT", &fields) == nullptr) {
            FAIL("not read: ", line);
        }
        all.push_back({timegm(&fields), std::stoll(line.substr(offset + 7))});
    }
    return all;
}

/// The files of the machine's time zones, compiled with a kind of `zic -b`.
class Database {
public:
    explicit Database(const std::string& kind) {
        const auto source = folder_.path() / "source";
        // A rule of fixed days. No current zone has one.
        std::ofstream{source} << "Rule J 1990 max - Mar 21 24:00 1:00 S\n"
                                 "Rule J 1990 max - Sep 22 24:00 0 -\n"
                                 "Zone Test/Fixed 3:30 - +0330 1990\n"
                                 "                3:30 J +0330/+0430\n";
        run("zic -b " + kind + " -d " + path() + " /usr/share/zoneinfo/tzdata.zi " +
            source.string());
    }

    [[nodiscard]] std::string path() const { return folder_.path().string(); }

private:
    test::TemporaryFolder folder_;
};

std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

constexpr std::int64_t year_1970 = 0;
constexpr std::int64_t year_2100 = 4'102'444'800;

}  // namespace

TEST_CASE("slim and fat time zone files agree with zdump from 1970 to 2100") {
    for (const char* kind : {"slim", "fat"}) {
        const Database database{kind};
        for (const char* name :
             {"Europe/Berlin", "Europe/Dublin", "America/Santiago", "Australia/Lord_Howe",
              "Europe/Istanbul", "Asia/Gaza", "America/Nuuk", "Africa/Casablanca",
              "Antarctica/Troll", "Africa/Cairo", "Pacific/Apia", "Test/Fixed"}) {
            CAPTURE(kind);
            CAPTURE(name);
            const auto zone = TimeZone::find(name, database.path());
            REQUIRE_MESSAGE(zone, zone.error().message());
            std::vector<std::int64_t> expected;
            auto offset = zone->at(year_1970).offset;
            for (const auto& dumped : dump(database.path() + "/" + name)) {
                CAPTURE(dumped.at);
                REQUIRE(zone->at(dumped.at).offset == dumped.offset);
                // Steps without a new offset change only the zone's abbreviation.
                if (dumped.offset != offset && dumped.at >= year_1970) {
                    expected.push_back(dumped.at);
                }
                offset = dumped.offset;
            }
            std::vector<std::int64_t> steps;
            auto period = zone->at(year_1970);
            while (period.end < year_2100) {
                const auto before = period;
                period = zone->at(period.end);
                REQUIRE(period.begin <= before.end);
                if (period.offset != before.offset) steps.push_back(before.end);
            }
            CHECK(steps == expected);
        }
    }
}

TEST_CASE("the first instant of a local time is found around each clock change") {
    const Database database{"slim"};
    for (const char* name : {"Europe/Dublin", "Australia/Lord_Howe", "Asia/Gaza", "Pacific/Apia"}) {
        CAPTURE(name);
        const auto zone = TimeZone::find(name, database.path());
        REQUIRE(zone);
        for (auto period = zone->at(year_1970); period.end < year_2100;) {
            const auto step = period.end;
            const auto next = zone->at(step);
            const auto shown_before = step + period.offset;
            const auto shown_behind = step + next.offset;
            REQUIRE(zone->first_instant(shown_before - 1) == step - 1);
            // Local times that are skipped by a step forward, or that occur only once.
            REQUIRE(zone->first_instant(shown_before) ==
                    (shown_behind >= shown_before ? step : step + shown_before - shown_behind));
            if (shown_behind < shown_before) {
                REQUIRE(zone->first_instant(shown_behind) == step - shown_before + shown_behind);
            } else {
                REQUIRE(zone->first_instant(shown_behind) == step);
            }
            period = next;
        }
    }
}

TEST_CASE("in a time zone file of version 1, the last offset applies for ever") {
    const Database database{"fat"};
    auto bytes = bytes_of(database.path() + "/Europe/Berlin");
    const auto today = ZoneFile::parse(bytes);
    REQUIRE(today);
    bytes[4] = '\0';
    const auto old = ZoneFile::parse(bytes);
    REQUIRE(old);
    for (std::int64_t at = 0; at < 2'100'000'000; at += 1'000'000) {
        REQUIRE(old->at(at).offset == today->at(at).offset);
    }
    CHECK(old->at(year_2100).offset == 3'600);
    CHECK(old->at(year_2100).end == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a damaged time zone file is refused with its name") {
    const Database database{"slim"};
    const auto path = database.path() + "/Europe/Berlin";
    const auto bytes = bytes_of(path);
    REQUIRE(ZoneFile::parse(bytes));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CHECK_FALSE(ZoneFile::parse(std::string_view{bytes}.substr(0, size)));
    }
    // A changed byte must not cause a read beyond the file, nor a time without a period.
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const char other : {'\0', '\x7f', '\x80', '\xff'}) {
            auto changed = bytes;
            changed[at] = other;
            const auto file = ZoneFile::parse(changed);
            if (!file) continue;
            for (const auto instant : {year_1970, year_2100}) {
                const auto period = file->at(instant);
                REQUIRE(period.begin <= instant);
                REQUIRE(instant < period.end);
            }
        }
    }
    std::ofstream{path, std::ios::binary} << bytes.substr(0, bytes.size() - 1);
    const auto damaged = TimeZone::find("Europe/Berlin", database.path());
    REQUIRE_FALSE(damaged);
    CHECK(damaged.error().code() == Errc::invalid);
    CHECK(damaged.error().context() ==
          "time_zone: the file " + path + " is damaged or unreadable; reinstall tzdata");
    CHECK(TimeZone::find("UTC", "/no/such/folder"));
    const auto absent = TimeZone::find("Europe/Berlin", "/no/such/folder");
    REQUIRE_FALSE(absent);
    CHECK(absent.error().context() ==
          "time_zone: the machine has no time zones but UTC in /no/such/folder; install tzdata");
}
