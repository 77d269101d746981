#include "core/schedule/zone_rule.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

using namespace routemaster;
using detail::ZoneRule;

namespace {

/// The C library's interpretation of a rule, as long as this object exists.
class RuleOfLibc {
public:
    explicit RuleOfLibc(const char* rule) {
        if (const char* before = std::getenv("TZ")) before_ = before;
        setenv("TZ", rule, 1);
        tzset();
    }
    RuleOfLibc(const RuleOfLibc&) = delete;
    RuleOfLibc& operator=(const RuleOfLibc&) = delete;
    ~RuleOfLibc() {
        before_ ? setenv("TZ", before_->c_str(), 1) : unsetenv("TZ");
        tzset();
    }

    [[nodiscard]] static std::int64_t offset(std::int64_t instant) {
        std::tm fields{};
        localtime_r(&instant, &fields);
        return fields.tm_gmtoff;
    }

private:
    std::optional<std::string> before_;
};

constexpr std::int64_t year_2096 = 3'976'214'400;
constexpr std::int64_t year_2105 = 4'260'211'200;
constexpr std::int64_t half_day = 43'200;

}  // namespace

TEST_CASE("a rule of a time zone is interpreted as by the C library") {
    // 2096 and 2104 are leap years, 2100 is not.
    for (const std::string text : {
             "UTC0",
             "<+03>-3",
             "<-0330>+3:30",
             "XYZ-12:34:56",
             "CET-1CEST,M3.5.0,M10.5.0/3",
             "EST5EDT,M3.2.0,M11.1.0",
             "IST-1GMT0,M10.5.0,M3.5.0/1",
             "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
             "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
             "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3",
             "EET-2EEST,M3.4.4/50,M10.4.4/50",
             "EET-2EEST,M4.5.5/0,M10.5.4/24",
             "<+0330>-3:30<+0430>,J80/24,J265/24",
             "AAA3BBB,J60/2,J300/2:30:15",
             "AAA3BBB,J59,J1/0",
             "AAA3BBB,58/2,59/2",
             "AAA3BBB,59/1,300/2",
             "AAA-3BBB-4:20,300/2,60/-5:30",
             "AAA3BBB,1/3,364/20",
         }) {
        CAPTURE(text);
        const auto rule = ZoneRule::parse(text);
        REQUIRE(rule);
        const RuleOfLibc libc{text.c_str()};
        for (auto at = year_2096; at < year_2105; at += half_day) {
            const auto period = rule->at(at);
            REQUIRE(period.begin <= at);
            REQUIRE(at < period.end);
            CAPTURE(at);
            REQUIRE(period.offset == RuleOfLibc::offset(at));
            // Both periods begin at a step of the C library.
            if (period.begin > year_2096) {
                REQUIRE(period.offset == RuleOfLibc::offset(period.begin));
                REQUIRE(period.offset != RuleOfLibc::offset(period.begin - 1));
            }
            if (period.end < year_2105) {
                REQUIRE(period.offset == RuleOfLibc::offset(period.end - 1));
                REQUIRE(period.offset != RuleOfLibc::offset(period.end));
            }
        }
    }
}

TEST_CASE("daylight saving time may last all year") {
    const auto rule = ZoneRule::parse("XXX3EDT4,0/0,J365/23");
    REQUIRE(rule);
    for (auto at = year_2096; at < year_2105; at += half_day) {
        REQUIRE(rule->at(at).offset == -4 * 3'600);
        REQUIRE(rule->at(at).end > at);
    }
}

TEST_CASE("an invalid rule of a time zone is refused") {
    for (const char* text : {"",
                             "CE-1",
                             "CET",
                             "<+3>",
                             "<+03-3",
                             "CET-25",
                             "CET-1:60",
                             "CET-1CEST",
                             "CET-1CEST,M3.5.0",
                             "CET-1CEST,M3.5.0,",
                             "CET-1CEST,M13.5.0,M10.5.0",
                             "CET-1CEST,M3.6.0,M10.5.0",
                             "CET-1CEST,M3.0.0,M10.5.0",
                             "CET-1CEST,M3.5.7,M10.5.0",
                             "CET-1CEST,M3.5.0/168,M10.5.0",
                             "CET-1CEST,J0,J365",
                             "CET-1CEST,J1,J366",
                             "CET-1CEST,0,366",
                             "CET-1CEST,M3.5.0,M10.5.0/3 ",
                             "CET-1CEST,M3.5.0,M10.5.0/3,",
                             "CET-1CEST,M3.5,M10.5.0",
                             "CET--1",
                             "CET-+1",
                             "<+03>-3,M3.5.0,M10.5.0",
                             "CET-99999999999999999999"}) {
        CAPTURE(text);
        CHECK_FALSE(ZoneRule::parse(text));
    }
}
