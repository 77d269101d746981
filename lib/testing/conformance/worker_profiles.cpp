#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/store/step/recurring.hpp"

namespace routemaster::testing {
namespace {

using Reason = JobExplanation::Reason;
using Others = WorkerProfile::Others;

constexpr Duration profile_silence{3'500};

WorkerProfile profile_of(const Scenario& s, std::vector<std::string> handlers) {
    WorkerProfile profile{.name = "thumbs:7",
                          .host = "thumbs",
                          .process = 7,
                          .since = s.now(),
                          .queues = {work_queue},
                          .capacity = 4,
                          .silence = profile_silence};
    profile.list_handlers(std::move(handlers));
    return profile;
}

Heartbeat beat(unsigned worker, WorkerProfile profile, std::uint32_t busy = 0,
               TimePoint busy_since = never) {
    return {.worker = Scenario::worker(worker),
            .profile = std::make_shared<const WorkerProfile>(std::move(profile)),
            .busy = busy,
            .busy_since = busy_since};
}

JobId push(const Scenario& s, const char* name, Duration delay = {},
           std::vector<JobId> after = {}) {
    PushJob step{work_queue, encode_job({name, {}}), s.now() + delay};
    step.after = std::move(after);
    return s.perform(std::move(step)).id;
}

void expect_text(const Scenario& s, JobId id, Reason reason, const std::string& text,
                 Where at = Where::here()) {
    const auto found = s.perform(ExplainJob{work_queue, id}, at);
    expect(found.has_value(), "the job must have an explanation", at);
    expect_equal(to_string(found->reason()), to_string(reason), "reason of the explanation", at);
    expect_equal(to_text(*found), text, "text of the explanation", at);
}

const std::string next = "it is READY for attempt 1 of 25, and it is next";

}  // namespace

void add_worker_profile_cases(StoreCases& add) {
    add("the explanation of a job in a queue without workers names this reason, and since when",
        [](Scenario& s) {
            const auto id = push(s, "resize");
            expect_text(s, id, Reason::no_worker, "no worker serves its queue");
            auto other = profile_of(s, {"resize"});
            other.queues = {"other"};
            s.perform(beat(2, std::move(other)));
            expect_text(s, id, Reason::no_worker, "no worker serves its queue");
            s.perform(beat(1, profile_of(s, {"resize"})));
            expect_text(s, id, Reason::awaits_worker, next);
            s.advance(profile_silence - Duration{1});
            expect_text(s, id, Reason::awaits_worker, next);
            s.advance(Duration{180'001});
            expect_text(s, id, Reason::no_worker,
                        "no worker serves its queue; the last one was heard of 3 min ago");
            s.perform(beat(1, profile_of(s, {"resize"})));
            s.advance(Duration{2'000});
            s.perform(RetireWorker{Scenario::worker(1)});
            expect_text(s, id, Reason::no_worker,
                        "no worker serves its queue; the last one was heard of 2 s ago");
        });

    add("a worker that is dead, or has moved to different queues, no longer serves its old queue",
        [](Scenario& s) {
            const auto id = push(s, "resize");
            auto patient = profile_of(s, {"resize"});
            patient.silence = Duration{60'000};
            s.perform(beat(1, patient));
            s.advance(Duration{5'000});
            expect_text(s, id, Reason::awaits_worker, next);
            // The first scrub after a long time grants silent workers a grace period.
            s.perform(ScrubWorkers{profile_silence});
            s.advance(profile_silence);
            s.perform(ScrubWorkers{profile_silence});
            expect_text(s, id, Reason::no_worker,
                        "no worker serves its queue; the last one was heard of 8 s ago");
            s.perform(beat(1, patient));
            expect_text(s, id, Reason::awaits_worker, next);
            patient.queues.clear();
            s.perform(beat(1, patient));
            expect_text(s, id, Reason::no_worker,
                        "no worker serves its queue; the last one was heard of 0 s ago");
            expect_equal(s.perform(ListQueues{}).at(0).workers, 0U, "workers of the queue");
        });

    add("the explanation of a job names a missing handler for the name of the job",
        [](Scenario& s) {
            const auto id = push(s, "resize");
            s.perform(beat(1, profile_of(s, {"crop", "rotate"})));
            expect_text(s, id, Reason::no_handler,
                        "the worker of its queue has no handler for 'resize'");
            s.perform(beat(2, profile_of(s, {})));
            expect_text(s, id, Reason::no_handler,
                        "the workers of its queue have no handler for 'resize'");
            s.perform(ReleaseJob{s.take_work(1), s.now() + Duration{1'000}});
            const std::string wait =
                "it is not due yet for attempt 1 of 25; the workers of its queue have no handler "
                "for 'resize'";
            expect_text(s, id, Reason::no_handler, wait);
            // Pools release a job without a handler for at most a minute.
            const auto last = push(s, "soon", Duration{60'000});
            const auto beyond = push(s, "later", Duration{60'001});
            const auto after = push(s, "behind", Duration{0}, {id});
            const auto reason_of = [&](JobId job) {
                return to_string(s.perform(ExplainJob{work_queue, job})->reason());
            };
            expect_equal(reason_of(last), "no_handler", "reason for a job that is due in a minute");
            expect_equal(reason_of(beyond), "not_due", "reason for a job that is due later");
            expect_equal(reason_of(after), "awaits_jobs", "reason for a job with a dependency");
            s.perform(beat(2, profile_of(s, {"crop", "resize"})));
            expect_text(s, id, Reason::not_due, "it is not due yet for attempt 1 of 25");
            s.advance(Duration{1'000});
            expect_text(s, id, Reason::awaits_worker, next);
            auto any = profile_of(s, {});
            for (const auto others : {Others::handled, Others::unknown}) {
                any.others = others;
                s.perform(beat(2, any));
                expect_text(s, id, Reason::awaits_worker, next);
            }
        });

    add("a handler that a truncated list of handlers lacks may still exist", [](Scenario& s) {
        const auto id = push(s, "resize");
        std::vector<std::string> names;
        for (std::size_t i = 0; i < profile_names_max; ++i) names.push_back(std::to_string(i));
        s.perform(beat(1, profile_of(s, names)));
        expect_text(s, id, Reason::no_handler,
                    "the worker of its queue has no handler for 'resize'");
        names.emplace_back("tilt");
        auto profile = profile_of(s, names);
        expect_equal(profile.handlers.size(), profile_names_max, "listed handler names");
        expect_equal(profile.handlers_total, profile_names_max + 1, "number of handler names");
        s.perform(beat(1, profile));
        expect_text(s, id, Reason::awaits_worker, next);
        profile = profile_of(s, {"a", std::string(profile_name_bytes_max + 1, 'b')});
        expect_equal(profile.handlers, std::vector<std::string>{"a"},
                     "handler names that are not too long");
        s.perform(beat(1, profile));
        expect_text(s, id, Reason::awaits_worker, next);
        profile = profile_of(s, {});
        profile.handlers.assign(profile_names_max + 1, "a");
        s.expect_refused(beat(1, profile), "profile");
    });

    add("the explanation of a job with only busy workers has the number of slots, and since when",
        [](Scenario& s) {
            const auto began = s.now();
            const auto id = push(s, "resize");
            s.advance(Duration{40'000});
            s.perform(beat(1, profile_of(s, {"resize"}), 4, began));
            expect_text(s, id, Reason::workers_busy,
                        "all 4 slots of 1 worker are busy; the oldest job has run for 40 s");
            s.perform(beat(2, profile_of(s, {"resize"}), 4, began + Duration{10'000}));
            s.perform(beat(3, profile_of(s, {"crop"})));
            expect_text(s, id, Reason::workers_busy,
                        "all 8 slots of 2 workers are busy; the oldest job has run for 40 s");
            auto unbounded = profile_of(s, {"resize"});
            unbounded.capacity = 0;
            s.perform(beat(3, unbounded, 100, began));
            expect_text(s, id, Reason::awaits_worker, next);
            s.perform(beat(3, profile_of(s, {"resize"}), 3, began));
            expect_text(s, id, Reason::awaits_worker, next);
        });

    add("a worker without a profile may have the handler that a job needs", [](Scenario& s) {
        const auto id = push(s, "resize");
        s.perform(Heartbeat{Scenario::worker(1)});
        const std::string open = next + "; 1 worker does not say which queues and jobs it serves";
        expect_text(s, id, Reason::awaits_worker, open);
        s.perform(beat(2, profile_of(s, {"crop"})));
        expect_text(s, id, Reason::awaits_worker, open);
        expect_equal(s.perform(ListQueues{}).at(0).unprofiled, 1U, "workers without a profile");
        s.advance(unprofiled_silence);
        expect_text(s, id, Reason::no_worker,
                    "no worker serves its queue; the last one was heard of 10 s ago");
    });

    add("workers are listed with their profiles, and queues with their workers", [](Scenario& s) {
        push(s, "resize");
        expect_equal(s.perform(ListQueues{}).at(0).worker_at, std::optional<TimePoint>{},
                     "time of the last heartbeat of any worker");
        auto profile = profile_of(s, {"crop", "resize"});
        profile.queues.emplace_back("other");
        profile.others = Others::handled;
        s.perform(beat(1, profile, 3, s.now()));
        s.perform(beat(2, profile_of(s, {"resize"})));
        s.perform(Heartbeat{Scenario::worker(1)});
        const auto beaten = s.now();
        const auto workers = s.perform(ListWorkers{});
        expect_equal(workers.at(0).profile, std::optional{profile}, "profile of the listed worker");
        expect_equal(workers.at(0).busy, 3U, "busy slots of the listed worker");
        const auto queue = s.perform(ListQueues{}).at(0);
        expect_equal(queue.workers, 2U, "workers of the queue");
        expect_equal(queue.worker_at, std::optional{beaten}, "time of the last heartbeat");
        s.advance(profile_silence);
        const auto left = s.perform(ListQueues{}).at(0);
        expect_equal(left.workers, 0U, "workers of the queue after the time limit");
        expect_equal(left.worker_at, std::optional{beaten}, "time of the last heartbeat");
    });

    add("a query for a queue and a handler counts the matching workers", [](Scenario& s) {
        const auto find = [&](std::string queue, std::string handler) {
            return s.perform(FindQueueWorkers{std::move(queue), std::move(handler)});
        };
        expect_equal(find("main", "http"), QueueWorkers{}, "workers of an empty store");
        auto dispatcher = profile_of(s, {"http", "local:audit"});
        dispatcher.queues = {"main"};
        s.perform(beat(1, dispatcher));
        auto scheduler = profile_of(s, {});
        scheduler.queues = {recurring_watch};
        s.perform(beat(2, scheduler));
        const auto now = s.now();
        expect_equal(find("main", "http"),
                     QueueWorkers{.workers = 1, .handling = 1, .last_at = now},
                     "workers for deliveries to URLs");
        expect_equal(find("main", "local:billing"), QueueWorkers{.workers = 1, .last_at = now},
                     "workers for a callback that no process has");
        expect_equal(find(recurring_watch, "").handling, 1U, "schedulers");
        s.expect_refused(FindQueueWorkers{":other"}, "queue");
        for (unsigned i = 10; i < 15 + profiles_read_max; ++i) {
            s.perform(beat(i, profile_of(s, {"crop"})));
        }
        const auto many = find(work_queue, "resize");
        expect_equal(many.workers, profiles_read_max + 5U, "workers of the queue, at any number");
        expect_equal(many.handling, 5U, "workers that may have the handler");
    });
}

}  // namespace routemaster::testing
