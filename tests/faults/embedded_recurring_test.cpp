/// @file
/// Recurring jobs in a file.

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "core/codec/recurring_settings.hpp"
#include "file_scene.hpp"
#include "routemaster/codec/msgpack.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

PutRecurringJob recurring_put(const char* name, const char* job) {
    return {name,
            std::make_shared<const RecurringSettings>(
                RecurringSettings{.schedule = "30 2 * * *",
                                  .time_zone = "Europe/Berlin",
                                  .queue = "work",
                                  .job = job,
                                  .catch_up = CatchUp::all,
                                  .overlap = true,
                                  .attempts_max = 3,
                                  .priority = 9,
                                  .timeout = Duration{1'000},
                                  .expires = Duration{2'000},
                                  .metadata = {{"tenant", "shop"}}}),
            Uid{1, static_cast<std::uint64_t>(job[0])}};
}

RunRecurringJob recurring_run(const RecurringJob& job, TimePoint now) {
    return {.name = job.name,
            .revision = job.revision,
            .at = job.next_at,
            .until = now,
            .next = now + Duration{60'000},
            .push = std::make_shared<const PushJob>(push_of(job.name, job.settings, now, now))};
}

}  // namespace

TEST_CASE("a file keeps recurring timers, and the timers that their ticks posted") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    const RecurringSettings settings{.schedule = "@every 1m",
                                     .overlap = true,
                                     .timer = RecurringTimer{.space = "calls",
                                                             .payload = encode(Value{"Ada"}),
                                                             .retries_max = 3,
                                                             .confirm_within = Duration{7'000}}};
    scene.must(
        PutRecurringJob{"call", std::make_shared<const RecurringSettings>(settings), Uid{1, 1}});
    scene.now += Duration{60'000};
    const auto read = *scene.must(FindRecurringJob{"call"});
    const RunRecurringJob step{
        .name = read.name,
        .revision = read.revision,
        .at = read.next_at,
        .until = scene.now,
        .next = scene.now + Duration{60'000},
        .push = {},
        .post = std::make_shared<const PostTimer>(post_of(read.name, settings, scene.now))};
    CHECK(scene.must(step).outcome == RecurringRun::Outcome::pushed);
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    const auto before = *scene.must(FindRecurringJob{"call"});
    CHECK(before.settings == settings);
    const auto timers = scene.must(ListTimers{.space = "calls"});
    CHECK(timers.size() == 1);
    scene.close();
    scene.open(options);
    CHECK(*scene.must(FindRecurringJob{"call"}) == before);
    CHECK(scene.must(ListTimers{.space = "calls"}) == timers);
    CHECK(scene.must(step) == RecurringRun{});
}

TEST_CASE("the settings of a recurring job written by an older version are read") {
    const RecurringSettings settings{.schedule = "@daily", .queue = "work", .job = "tick"};
    // Without the key that was added for recurring timers.
    const Value::Map older{{"schedule", settings.schedule},
                           {"time_zone", settings.time_zone},
                           {"queue", settings.queue},
                           {"job", settings.job}};
    const auto bytes = encode(Value{older});
    CHECK(detail::decode_settings(bytes).value() == settings);
    CHECK(detail::encode_settings(settings) == bytes);
}

TEST_CASE("a file keeps recurring jobs, with the ticks that have run") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    for (const char* name : {"run", "paused", "removed", "untouched"}) {
        scene.must(recurring_put(name, name));
    }
    scene.must(PauseRecurringJob{"paused", true});
    scene.must(RemoveRecurringJob{"removed"});
    scene.now += Duration{60'000};
    const auto step = recurring_run(*scene.must(FindRecurringJob{"run"}), scene.now);
    CHECK(scene.must(step).outcome == RecurringRun::Outcome::pushed);
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    const auto before = scene.must(ListRecurringJobs{});
    CHECK(before.size() == 3);
    const auto due = scene.must(DueRecurringJobs{});
    CHECK(due.jobs.size() == 1);
    scene.close();
    scene.open(options);
    CHECK(scene.must(ListRecurringJobs{}) == before);
    CHECK(scene.must(DueRecurringJobs{}) == due);
    CHECK(scene.must(step) == RecurringRun{});
    CHECK(scene.queue("work").ready == 1);
    CHECK(scene.must(PauseRecurringJob{"paused", false}) == Count{1});
    CHECK(scene.must(DueRecurringJobs{}).jobs.size() == 2);
}
