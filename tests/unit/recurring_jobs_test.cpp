#include "routemaster/recurring_jobs.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_schedule.hpp"
#include "support/recurring_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;
using namespace std::chrono_literals;

TEST_CASE("recurring jobs are listed, changed and removed") {
    RecurringScene s;
    s.recurring
        .cron("report", "30 2 * * MON-FRI", "work", Job{"report", {"sales"}},
              {.time_zone = "Europe/Berlin", .catch_up = CatchUp::skip, .attempts_max = 3})
        .value();
    s.recurring.every("ping", 90s, "work", Job{"ping", {}}).value();
    const auto all = s.recurring.list().value();
    REQUIRE(all.size() == 2);
    CHECK(all[0].name == "ping");
    CHECK(all[0].settings.schedule == "@every 90s");
    CHECK(all[1].settings.time_zone == "Europe/Berlin");
    CHECK(decode_job(all[1].settings.job).value() == Job{"report", {"sales"}});
    CHECK(all[1].next_at ==
          JobSchedule::parse("30 2 * * MON-FRI", "Europe/Berlin").value().next(s.begin));
    CHECK(s.recurring.list({.after = "ping", .limit = 1}).value().at(0).name == "report");
    CHECK(s.recurring.remove("ping").value() == Removal::removed);
    CHECK(s.recurring.remove("ping").value() == Removal::unknown);
    CHECK_FALSE(s.recurring.find("ping").value());

    CHECK(s.recurring.every("a", 1500ms, "work", Job{"a", {}}).error().code() == Errc::invalid);
    CHECK(s.recurring.cron("a", "@daily", "main", Job{"a", {}})
              .error()
              .context()
              .starts_with("queue:"));
    CHECK(s.recurring.cron("a", "@daily", "work", Job{"", {}})
              .error()
              .context()
              .starts_with("job: name:"));
    RecurringSettings settings{.schedule = "@daily", .queue = "work", .job = "no job"};
    CHECK(s.recurring.put("a", settings).error().context().starts_with("job:"));
    CHECK(s.recurring.list().value().size() == 1);
}

TEST_CASE("a recurring job is refused if the jobs of its ticks would be refused") {
    RecurringScene s;
    const auto refused = [&s](const Job& job, const std::string& field) {
        const auto outcome = s.recurring.cron("a", "@daily", "work", job);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code() == Errc::invalid);
        CHECK(outcome.error().context().starts_with(field));
    };
    refused({std::string{"a\0b", 3}, {}}, "job: name:");
    refused({"\xff", {}}, "job: name:");
    refused({"a", {Value{std::nan("")}}}, "job: arguments:");
    refused({"a", {Value{"\xff"}}}, "job: arguments:");
    refused({"a", {Value{Value::Map{{"k", Value{1}}, {"k", Value{2}}}}}}, "job: arguments:");
    const std::string twice = std::string{"\x92\xa1"} + "a\x91\x82\xa1k\x01\xa1k\x02";
    RecurringSettings settings{.schedule = "@daily", .queue = "work", .job = twice};
    CHECK(s.recurring.put("a", settings).error().context().starts_with("job:"));
    CHECK(s.recurring.cron("a", "@daily", "work", Job{"a", {}}, {.priority = priority_max + 1})
              .error()
              .context()
              .starts_with("priority:"));
    CHECK(s.recurring.list().value().empty());
}
