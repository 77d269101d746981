#include <string>
#include <vector>

#include "cases.hpp"

namespace routemaster::testing {
namespace {

constexpr Duration minute{60'000};
constexpr Duration hour{3'600'000};

/// The beginning of the minute or hour (`span`) that contains an instant.
TimePoint begin_of(TimePoint at, Duration span) {
    return at - Duration{to_milliseconds(at) % span.count()};
}

QueueThroughput throughput(const Scenario& s, Where at = Where::here()) {
    return s.perform(MeasureThroughput{work_queue}, at);
}

void begin_hour(Scenario& s) { s.advance(begin_of(s.now(), hour) + hour - s.now()); }

void run_next(const Scenario& s) { s.perform(AckJob{s.take_work()}); }

}  // namespace

void add_throughput_cases(StoreCases& add) {
    add("done, failed, BURIED and expired jobs are counted by minute and hour", [](Scenario& s) {
        begin_hour(s);
        const auto began = s.now();
        expect_equal(throughput(s), QueueThroughput{}, "throughput of an empty queue");
        s.push("done");
        s.push_with("done, too", {.key = {.text = "k"}});
        s.push("completed");
        for (int n = 0; n < 2; ++n) run_next(s);
        s.perform(CompleteJob{s.take_work()});
        s.push("fails");
        s.perform(FailJob{.lease = s.take_work(), .error = "x", .run_at = s.now()});
        s.perform(NackJob{s.take_work(), s.now()});
        s.perform(ReleaseJob{s.take_work(), s.now()});
        s.perform(RetireWorker{s.take_work().worker});
        s.bury_next();
        s.push_with("expires", {.expires_at = s.now() + Duration{1}});
        s.advance(Duration{1});
        s.expect_idle_until(never, work_queue);
        const QueueCounts counts{.done = 3, .failed = 3, .buried = 1, .expired = 1};
        expect_equal(throughput(s), QueueThroughput{{{began, counts}}, {{began, counts}}},
                     "throughput in the first minute");

        s.advance(minute);
        const auto other = s.push_with("other", {});
        PushJob waits{work_queue, "waits", s.now()};
        waits.after = {other};
        s.perform(waits);
        s.perform(DeleteJob{work_queue, other});
        s.push("dies");
        s.take_work();
        s.advance(Duration{10'000});
        s.perform(ScrubWorkers{Duration{10'000}});
        const QueueCounts later{.failed = 1, .buried = 1};
        const QueueCounts both{.done = 3, .failed = 4, .buried = 2, .expired = 1};
        expect_equal(throughput(s),
                     QueueThroughput{{{began, counts}, {began + minute, later}}, {{began, both}}},
                     "throughput in two minutes");
        expect_equal(s.perform(MeasureThroughput{"another"}), QueueThroughput{},
                     "throughput of another queue");
    });

    add("throughput excludes the work of cancelled jobs and of lost leases", [](Scenario& s) {
        s.push("a");
        const auto lease = s.take_work();
        s.perform(CancelJob{work_queue, lease.id});
        s.perform(NackJob{lease, s.now()});
        s.perform(AckJob{lease});
        s.perform(FailJob{.lease = lease, .error = "x", .run_at = s.now()});
        expect_equal(throughput(s), QueueThroughput{}, "throughput");
    });

    add("counts by minute are kept for an hour, and by hour for a day", [](Scenario& s) {
        begin_hour(s);
        const auto began = s.now();
        const QueueCounts one{.done = 1};
        const auto run = [&](const char* job) {
            s.push(job);
            run_next(s);
        };
        run("a");
        s.advance(minute * 59);
        expect_equal(throughput(s), QueueThroughput{{{began, one}}, {{began, one}}},
                     "throughput in the last minute of the hour");
        run("b");
        const QueueCounts two{.done = 2};
        s.advance(minute);
        const QueueThroughput without{{{began + minute * 59, one}}, {{began, two}}};
        expect_equal(throughput(s), without, "throughput an hour later");
        run("c");
        const auto second = began + hour;
        expect_equal(throughput(s),
                     QueueThroughput{{{began + minute * 59, one}, {second, one}},
                                     {{began, two}, {second, one}}},
                     "throughput after one more job");
        s.advance(hour * 3);
        run("d");
        s.advance(hour * 19);
        expect_equal(throughput(s),
                     QueueThroughput{{}, {{began, two}, {second, one}, {began + hour * 4, one}}},
                     "throughput in the 24th hour");
        run("e");
        s.advance(hour);
        expect_equal(
            throughput(s),
            QueueThroughput{{}, {{second, one}, {began + hour * 4, one}, {began + hour * 23, one}}},
            "throughput in the 25th hour");
        run("f");
        s.advance(hour * 24);
        expect_equal(throughput(s), QueueThroughput{}, "throughput a day after the last job");
    });

    add("the throughput of a queue of Ruby Routemaster is unknown", [](Scenario& s) {
        for (const char* queue : {"main", "aux"})
            s.expect_refused(MeasureThroughput{queue}, "queue");
        s.expect_refused(MeasureThroughput{"no queue"}, "queue");
    });
}

}  // namespace routemaster::testing
