#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "threads.hpp"

namespace routemaster::testing {
namespace {

using Ran = RecurringRun::Outcome;

constexpr Duration interval{60'000};

RecurringSettings every_minute() {
    return {.schedule = "@every 1m", .queue = work_queue, .job = "tick"};
}

void put(Scenario& s, const std::string& name, RecurringSettings settings = every_minute(),
         Where at = Where::here()) {
    s.perform(PutRecurringJob{name, std::make_shared<const RecurringSettings>(std::move(settings)),
                              s.uid()},
              at);
}

/// The recurring job of this name, which must exist.
RecurringJob found(const Scenario& s, const std::string& name, Where at = Where::here()) {
    auto job = s.perform(FindRecurringJob{name}, at);
    expect(job.has_value(), "no recurring job has the name " + name, at);
    return *std::move(job);
}

RunRecurringJob run_of(const Scenario& s, const RecurringJob& job) {
    return {
        .name = job.name,
        .revision = job.revision,
        .at = job.next_at,
        .until = s.now(),
        .next = s.now() + interval,
        .push = std::make_shared<const PushJob>(push_of(job.name, job.settings, s.now(), s.now()))};
}

RecurringRun run(const Scenario& s, const std::string& name, Where at = Where::here()) {
    return s.perform(run_of(s, found(s, name, at)), at);
}

std::vector<std::string> due_names(const Scenario& s, std::uint32_t limit = due_recurring_max) {
    std::vector<std::string> names;
    for (const auto& job : s.perform(DueRecurringJobs{limit}).jobs) names.push_back(job.name);
    return names;
}

void expect_woken(Scenario& s, const std::string& what, const std::function<void()>& change,
                  Where at = Where::here()) {
    Signal signal;
    const auto watch = s.store().watch(recurring_watch, [&] { signal.raise(); });
    // Waits for a reply. By then, a client of a server has subscribed to wake-ups.
    s.perform(DueRecurringJobs{}, at);
    const auto seen = signal.count();
    change();
    expect(signal.wait_beyond(seen, s.traits().timeout), "no scheduler was woken by " + what, at);
}

void add_tick_cases(StoreCases& add) {
    add("PutRecurringJob sets the next due time, and earlier ticks do not run", [](Scenario& s) {
        put(s, "report");
        const auto job = found(s, "report");
        expect_equal(job.next_at, s.now(), "due time of the recurring job");
        expect_equal(job.settled_until, s.now(), "time up to which ticks are settled");
        expect_equal(job.last_at, std::optional<TimePoint>{}, "last tick of the recurring job");
        expect(job.settings == every_minute() && !job.paused,
               "the recurring job must have the settings of the put");
        const auto due = s.perform(DueRecurringJobs{});
        expect_equal(due.jobs, std::vector<RecurringJob>{job}, "due recurring jobs");
        expect_equal(due.next_at, never, "due time of the next recurring job");
        expect_equal(due.now, s.now(), "current time in the reply");
        // The put has settled the tick of this instant, so the run pushes no job.
        expect_equal(run(s, "report").outcome, Ran::moved,
                     "outcome of a run before the first tick");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue");
        expect_equal(due_names(s), std::vector<std::string>{}, "recurring jobs due after the run");
        expect_equal(s.perform(DueRecurringJobs{}).next_at, s.now() + interval,
                     "due time of the next tick");
    });

    add("each tick pushes one job, whichever scheduler runs the tick", [](Scenario& s) {
        put(s, "report");
        run(s, "report");
        for (int tick = 1; tick <= 3; ++tick) {
            s.advance(interval);
            const auto step = run_of(s, found(s, "report"));
            const auto first = s.perform(step);
            expect_equal(first.outcome, Ran::pushed, "outcome for the first scheduler");
            expect_equal(s.perform(step), RecurringRun{}, "reply to the second scheduler");
            const auto lease = s.take_work();
            expect_equal(lease.job, std::string{"tick"}, "encoded job of the tick");
            expect_equal(lease.id, first.id, "id of the pushed job");
            expect_equal(lease.options->metadata,
                         JobMetadata{{"recurring", "report"},
                                     {"tick", std::to_string(to_milliseconds(s.now()))}},
                         "metadata of the pushed job");
            s.perform(AckJob{lease});
            expect_equal(s.perform(step), RecurringRun{},
                         "reply to a repeated run after the job is done");
            const auto job = found(s, "report");
            expect_equal(job.runs, static_cast<std::uint64_t>(tick), "runs");
            expect_equal(job.last_at, std::optional{s.now()}, "last tick of the recurring job");
            expect_equal(job.settled_until, s.now(), "time up to which ticks are settled");
        }
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue after three ticks");
    });

    add("only one of eight concurrent schedulers runs a tick", [](Scenario& s) {
        put(s, "report", [] {
            auto settings = every_minute();
            settings.overlap = true;
            return settings;
        }());
        run(s, "report");
        for (std::uint64_t tick = 1; tick <= 10; ++tick) {
            s.advance(interval);
            const auto step = run_of(s, found(s, "report"));
            std::atomic<int> ran = 0;
            in_threads(8, [&](unsigned) {
                if (s.perform(step).outcome == Ran::pushed) ++ran;
            });
            expect_equal(ran.load(), 1, "schedulers that ran the tick");
            expect_equal(s.queue(work_queue).ready, tick, "jobs");
        }
    });

    add("a tick keeps the job of an earlier tick, and with overlap=true pushes a second job",
        [](Scenario& s) {
            put(s, "report");
            run(s, "report");
            s.advance(interval);
            const auto id = run(s, "report").id;
            for (const bool pending : {false, true}) {
                if (pending) s.take_work();
                s.advance(interval);
                expect_equal(run(s, "report"), RecurringRun{Ran::kept, id},
                             "reply to a tick while the job exists");
            }
            const auto job = found(s, "report");
            expect_equal(job.runs, 1U, "runs");
            expect_equal(job.kept, 2U, "ticks that kept an existing job");
            expect_equal(job.settled_until, s.now(), "time up to which ticks are settled");
            auto settings = every_minute();
            settings.overlap = true;
            put(s, "report", settings);
            for (int i = 0; i < 2; ++i) {
                s.advance(interval);
                expect_equal(run(s, "report").outcome, Ran::pushed,
                             "outcome of a tick with overlap");
            }
            expect_equal(s.queue(work_queue), QueueStatus{.ready = 2, .pending = 1},
                         "jobs in the queue");
        });

    add("the job that a tick pushes has the options of its recurring job", [](Scenario& s) {
        auto settings = every_minute();
        settings.attempts_max = 3;
        settings.priority = -7;
        settings.timeout = Duration{5'000};
        settings.expires = Duration{7'000};
        settings.metadata = {{"tenant", "shop"}};
        put(s, "report", settings);
        run(s, "report");
        s.advance(interval);
        const auto options = s.job(run(s, "report").id).options;
        expect_equal(options.attempts_max, 3U, "attempts_max");
        expect_equal(options.priority, -7, "priority");
        expect_equal(options.timeout, Duration{5'000}, "timeout");
        expect_equal(options.expires_at, s.now() + Duration{7'000}, "expires_at");
        expect_equal(options.metadata.at("tenant"), std::string{"shop"}, "metadata");
    });

    add("setting the clock back does not run a tick a second time", [](Scenario& s) {
        put(s, "report");
        run(s, "report");
        s.advance(interval);
        expect_equal(run(s, "report").outcome, Ran::pushed, "outcome of the tick");
        s.perform(AckJob{s.take_work()});
        const auto settled = s.now();
        s.advance(-interval / 2);
        // A new schedule makes the job due immediately.
        auto settings = every_minute();
        settings.schedule = "@every 30s";
        put(s, "report", settings);
        expect_equal(found(s, "report").next_at, s.now(), "due time of the recurring job");
        expect_equal(found(s, "report").settled_until, settled,
                     "time up to which ticks are settled");
        expect_equal(run(s, "report").outcome, Ran::moved,
                     "outcome of a run before the settled tick");
        expect_equal(found(s, "report").settled_until, settled,
                     "time up to which ticks are settled after the run");
        expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue");
    });
}

void add_entity_cases(StoreCases& add) {
    add("putting a recurring job again keeps its due time unless the schedule changes",
        [](Scenario& s) {
            put(s, "report");
            run(s, "report");
            const auto before = found(s, "report");
            s.advance(3 * interval);
            put(s, "report");
            expect_equal(found(s, "report"), before, "recurring job after an equal put");

            const auto stale = run_of(s, before);
            auto settings = every_minute();
            settings.job = "another";
            put(s, "report", settings);
            auto changed = found(s, "report");
            expect_equal(changed.next_at, before.next_at, "due time after a put with another job");
            expect_equal(changed.settled_until, before.settled_until,
                         "time up to which ticks are settled");
            expect(changed.revision != before.revision, "the put must change the revision");
            expect_equal(s.perform(stale), RecurringRun{}, "reply to a run of the old revision");

            for (const bool zone : {false, true}) {
                s.advance(interval);
                settings.schedule = "* * * * *";
                if (zone) settings.time_zone = "Etc/UTC";
                put(s, "report", settings);
                changed = found(s, "report");
                expect_equal(changed.next_at, s.now(),
                             "due time after a put with another schedule");
                expect_equal(changed.settled_until, s.now(), "time up to which ticks are settled");
            }
            expect_equal(s.queue(work_queue), QueueStatus{}, "jobs in the queue");
        });

    add("a paused recurring job is not due, and ticks during the pause are skipped",
        [](Scenario& s) {
            put(s, "report");
            run(s, "report");
            s.advance(interval);
            const auto step = run_of(s, found(s, "report"));
            expect_equal(s.perform(PauseRecurringJob{"report", true}), Count{1},
                         "recurring jobs paused");
            expect_equal(s.perform(PauseRecurringJob{"nothing", true}), Count{0},
                         "recurring jobs paused by an unknown name");
            expect(found(s, "report").paused, "the recurring job must be paused");
            expect_equal(due_names(s), std::vector<std::string>{}, "due recurring jobs");
            expect_equal(s.perform(DueRecurringJobs{}).next_at, never,
                         "due time of the next recurring job");
            expect_equal(s.perform(step), RecurringRun{}, "reply to a run during the pause");
            auto settings = every_minute();
            settings.schedule = "* * * * *";
            put(s, "report", settings);
            expect(found(s, "report").paused, "a put must not resume the recurring job");
            s.advance(interval);
            expect_equal(s.perform(PauseRecurringJob{"report", false}), Count{1},
                         "recurring jobs resumed");
            expect_equal(found(s, "report").settled_until, s.now(),
                         "time up to which ticks are settled");
            expect_equal(due_names(s), std::vector<std::string>{"report"},
                         "recurring jobs due after the pause");
            expect_equal(run(s, "report").outcome, Ran::moved,
                         "outcome of the first run after the pause");
            s.advance(interval);
            expect_equal(run(s, "report").outcome, Ran::pushed, "outcome of the next tick");
        });

    add("a removed recurring job does not run, and a new job of its name runs none of the old "
        "ticks",
        [](Scenario& s) {
            put(s, "report");
            run(s, "report");
            s.advance(interval);
            const auto step = run_of(s, found(s, "report"));
            expect_equal(s.perform(RemoveRecurringJob{"report"}), Removal::removed,
                         "removal of the recurring job");
            expect_equal(s.perform(RemoveRecurringJob{"report"}), Removal::unknown,
                         "second removal of the recurring job");
            expect(!s.perform(FindRecurringJob{"report"}),
                   "the removed recurring job must not exist");
            expect_equal(due_names(s), std::vector<std::string>{}, "due recurring jobs");
            expect_equal(s.perform(step), RecurringRun{},
                         "reply to a run of the removed recurring job");
            put(s, "report");
            expect_equal(s.perform(step), RecurringRun{}, "reply to a run of the old revision");
            expect_equal(found(s, "report").runs, 0U, "runs of the new recurring job");
        });

    add("due recurring jobs are in the order of their ticks, lists are by name", [](Scenario& s) {
        for (const char* name : {"c", "a", "b"}) {
            put(s, name);
            s.advance(Duration{1'000});
        }
        expect_equal(due_names(s), std::vector<std::string>{"c", "a", "b"}, "due recurring jobs");
        expect_equal(due_names(s, 2), std::vector<std::string>{"c", "a"},
                     "first two due recurring jobs");
        expect_equal(s.perform(DueRecurringJobs{2}).next_at, found(s, "b").next_at,
                     "due time of the third recurring job");
        std::vector<std::string> names;
        for (const auto& job : s.perform(ListRecurringJobs{})) names.push_back(job.name);
        expect_equal(names, std::vector<std::string>{"a", "b", "c"},
                     "names of the listed recurring jobs");
        const auto page = s.perform(ListRecurringJobs{{.after = "a", .limit = 1}});
        expect_equal(page, std::vector<RecurringJob>{found(s, "b")},
                     "recurring jobs on a page of one");
        run(s, "c");
        expect_equal(due_names(s), std::vector<std::string>{"a", "b"},
                     "recurring jobs due after a run");
    });

    add("putting or resuming a recurring job wakes the schedulers", [](Scenario& s) {
        expect_woken(s, "a put", [&] { put(s, "report"); });
        s.perform(PauseRecurringJob{"report", true});
        expect_woken(s, "the resumption of a recurring job", [&] {
            s.perform(PauseRecurringJob{"report", false});
        });
        expect_woken(s, "a put with another schedule", [&] {
            auto settings = every_minute();
            settings.schedule = "@every 1s";
            put(s, "report", settings);
        });
    });
}

void add_recurring_refusal_cases(StoreCases& add) {
    add("an invalid recurring job is refused, names the field, changes nothing", [](Scenario& s) {
        const auto refuse = [&](std::string_view field, std::string name, auto change,
                                Where at = Where::here()) {
            auto settings = every_minute();
            change(settings);
            s.expect_refused(
                PutRecurringJob{std::move(name),
                                std::make_shared<const RecurringSettings>(settings), s.uid()},
                field, at);
        };
        const auto nothing = [](RecurringSettings&) {};
        refuse("name", "", nothing);
        refuse("name", "a name", nothing);
        refuse("name", std::string(65, 'a'), nothing);
        refuse("schedule", "a", [](auto& all) { all.schedule = "61 * * * *"; });
        refuse("time_zone", "a", [](auto& all) {
            all.schedule = "@daily";
            all.time_zone = "Europe/Atlantis";
        });
        refuse("queue", "a", [](auto& all) { all.queue = "main"; });
        refuse("queue", "a", [](auto& all) { all.queue = "a:b"; });
        refuse("job", "a", [](auto& all) { all.job.clear(); });
        refuse("job", "a", [](auto& all) { all.job.assign(recurring_job_bytes_max + 1, 'a'); });
        refuse("priority", "a", [](auto& all) { all.priority = priority_max + 1; });
        refuse("timeout", "a", [](auto& all) { all.timeout = Duration{-1}; });
        refuse("expires", "a", [](auto& all) { all.expires = Duration{-1}; });
        refuse("catch_up", "a", [](auto& all) { all.catch_up = CatchUp::all; });
        refuse("catch_up", "a", [](auto& all) { all.catch_up = CatchUp{3}; });
        // The text is a valid schedule, but too long.
        refuse("schedule", "a", [](auto& all) {
            all.schedule = "* * * * *" + std::string(schedule_bytes_max - 8, ' ');
        });
        refuse("time_zone", "a", [](auto& all) {
            all.schedule = "@daily";
            all.time_zone.assign(time_zone_bytes_max + 1, 'a');
        });
        // The tick itself adds two entries to the metadata.
        refuse("job: metadata", "a", [](auto& all) {
            for (std::size_t i = 0; i + 1 < job_metadata_max; ++i) {
                all.metadata[std::to_string(i)] = "x";
            }
        });
    });

    add("a recurring job accepts a schedule and metadata of the largest allowed size",
        [](Scenario& s) {
            auto settings = every_minute();
            settings.schedule = "* * * * *" + std::string(schedule_bytes_max - 9, ' ');
            for (std::size_t i = 0; i + 2 < job_metadata_max; ++i) {
                settings.metadata[std::to_string(i)] = "x";
            }
            put(s, "report", settings);
            expect(found(s, "report").settings == settings,
                   "the recurring job must have the settings of the put");
            run(s, "report");
            s.advance(interval);
            expect_equal(run(s, "report").outcome, Ran::pushed, "outcome of the tick");
            expect_equal(s.take_work().options->metadata.size(), job_metadata_max,
                         "metadata entries of the pushed job");
        });

    add("an invalid run of a recurring job is refused and changes nothing", [](Scenario& s) {
        put(s, "report");
        auto step = run_of(s, found(s, "report"));
        step.next = step.until;
        s.expect_refused(step, "next");
        step = run_of(s, found(s, "report"));
        auto push = *step.push;
        push.queue = "main";
        step.push = std::make_shared<const PushJob>(push);
        s.expect_refused(step, "queue");
        s.expect_refused(DueRecurringJobs{0}, "limit");
        s.expect_refused(DueRecurringJobs{due_recurring_max + 1}, "limit");
        s.expect_refused(ListRecurringJobs{{.after = {}, .limit = 0}}, "limit");
    });
}

}  // namespace

void add_recurring_cases(StoreCases& add) {
    add_tick_cases(add);
    add_entity_cases(add);
    add_recurring_refusal_cases(add);
}

}  // namespace routemaster::testing
