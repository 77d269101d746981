#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"

namespace routemaster::testing {
namespace {

ListedWorker only_worker(const Scenario& s, Where at = Where::here()) {
    const auto all = s.perform(ListWorkers{}, at);
    expect_equal(all.size(), 1U, "number of listed workers", at);
    return all.front();
}

LeasedByWorker leased(const Lease& lease, std::optional<TimePoint> since) {
    return {.queue = lease.queue,
            .id = lease.id,
            .job = lease.job,
            .attempt = lease.attempt,
            .since = since};
}

}  // namespace

void add_listed_worker_cases(StoreCases& add) {
    add("workers are listed in pages by their ids, until they retire or die", [](Scenario& s) {
        const auto list = [&](std::string after, std::uint32_t limit) {
            std::string ids;
            for (const auto& worker :
                 s.perform(ListWorkers{{.after = std::move(after), .limit = limit}})) {
                ids += worker.id.text();
                ids += ' ';
            }
            return ids;
        };
        const auto text = [](unsigned number) {
            return std::string{Scenario::worker(number).text()};
        };
        expect_equal(list("", 100), std::string{}, "workers of an empty store");
        for (const unsigned number : {3U, 1U, 2U}) s.perform(Heartbeat{Scenario::worker(number)});
        const auto all = text(1) + ' ' + text(2) + ' ' + text(3) + ' ';
        expect_equal(list("", 100), all, "workers");
        expect_equal(list("", 2), text(1) + ' ' + text(2) + ' ', "workers on the first page");
        expect_equal(list(text(2), 2), text(3) + ' ', "workers on the second page");
        expect_equal(list(text(1) + "x", 1), text(2) + ' ', "workers after an invalid id");
        expect_equal(list("", 100), all, "workers");
        s.perform(RetireWorker{Scenario::worker(2)});
        expect_equal(list("", 100), text(1) + ' ' + text(3) + ' ', "workers after one has retired");
        s.advance(Duration{1'000});
        s.perform(Heartbeat{Scenario::worker(3)});
        s.perform(ScrubWorkers{Duration{1'000}});
        expect_equal(list("", 100), text(3) + ' ', "workers after one was declared dead");
        for (const auto limit : {0U, workers_listed_max + 1}) {
            s.expect_refused(ListWorkers{{.after = {}, .limit = limit}}, "limit");
        }
    });

    add("a worker shows its leases, and since when it has each lease", [](Scenario& s) {
        const auto began = s.now();
        s.push("a");
        s.push_with("b", {.key = {.text = "k"}});
        s.push("c");
        const auto a = s.take_work();
        s.advance(Duration{10});
        const auto b = s.take_work();
        s.perform(Heartbeat{a.worker});
        const auto c = s.take_work(2);
        s.advance(Duration{5});
        const auto both = s.perform(ListWorkers{});
        expect_equal(both.size(), 2U, "workers");
        const ListedWorker first{.id = a.worker,
                                 .seen = began + Duration{10},
                                 .leased = 2,
                                 .jobs = {leased(a, began), leased(b, began + Duration{10})}};
        expect_equal(both[0], first, "first listed worker");
        expect_equal(both[1].jobs, std::vector{leased(c, began + Duration{10})},
                     "jobs of the second listed worker");
        s.perform(AckJob{c});
        s.perform(NackJob{a, s.now()});
        s.perform(FailJob{.lease = b, .error = "broken", .run_at = s.now()});
        const auto again = s.acquire({.worker = 2, .queue = work_queue}).leases;
        expect_equal(again.size(), 2U, "number of jobs acquired by the second worker");
        for (const auto& worker : s.perform(ListWorkers{})) {
            std::vector<LeasedByWorker> now;
            if (worker.id == Scenario::worker(2)) {
                for (const auto& lease : again) now.push_back(leased(lease, s.now()));
            }
            expect_equal(worker.jobs, now, "jobs of the listed worker");
            expect_equal(worker.leased, now.size(), "number of leases of the listed worker");
        }
        s.perform(CancelJob{work_queue, again[0].id});
        s.perform(RetireWorker{Scenario::worker(1)});
        auto cancelled = leased(again[0], {});
        cancelled.cancelled = true;
        expect_equal(only_worker(s).jobs, std::vector{cancelled, leased(again[1], s.now())},
                     "jobs of the worker after a cancellation");
    });

    add("a worker shows its deliveries under way", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 1});
        s.publish("orders");
        const auto lease = s.take();
        expect_equal(only_worker(s).jobs, std::vector{leased(lease, {})}, "jobs of the dispatcher");
    });

    add("a worker with many jobs shows only the jobs with the oldest leases", [](Scenario& s) {
        constexpr std::size_t many = 60;
        for (std::size_t i = 0; i < many; ++i) s.push("job " + std::to_string(i));
        std::vector<Lease> leases;
        for (std::size_t i = 0; i < many / 2; ++i) {
            for (auto& lease : s.acquire({.limit = 2, .queue = work_queue}).leases) {
                leases.push_back(std::move(lease));
            }
            s.advance(Duration{1});
        }
        const auto began = s.now() - Duration{many / 2};
        s.perform(AckJob{leases[1]});
        const auto expect_first = [&](std::size_t gone, Where at = Where::here()) {
            const auto worker = only_worker(s, at);
            expect_equal(worker.leased, many - gone, "number of leases of the worker", at);
            std::vector<LeasedByWorker> first;
            for (auto i = gone == 1 ? 0 : gone; first.size() < worker_jobs_max; ++i) {
                if (i != 1) first.push_back(leased(leases[i], began + Duration{i / 2}));
            }
            expect_equal(worker.jobs, first, "jobs", at);
        };
        expect_first(1);
        s.perform(AckJob{leases[0]});
        for (unsigned i = 2; i < 30; ++i) s.perform(AckJob{leases[i]});
        expect_first(30);
    });

    add("a worker shows when a lease began, even after many further jobs", [](Scenario& s) {
        const auto began = s.now();
        s.push("long");
        const auto lease = s.take_work();
        for (unsigned i = 0; i < 200; ++i) {
            s.advance(Duration{1});
            s.push("short");
            s.perform(AckJob{s.take_work()});
        }
        s.push("last");
        const auto last = s.take_work();
        expect_equal(only_worker(s).jobs, std::vector{leased(lease, began), leased(last, s.now())},
                     "jobs");
    });
}

}  // namespace routemaster::testing
