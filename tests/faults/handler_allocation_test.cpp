// Memory that runs out on the thread of a handler: the end of the handler is reported all the same.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/jobs/work/pool/handler_table.hpp"
#include "core/jobs/work/pool/job_board.hpp"
#include "core/timers/work/timer_board.hpp"
#include "core/timers/work/timer_response.hpp"
#include "failing_allocation.hpp"
#include "routemaster/callbacks.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/transport/local.hpp"
#include "support/await.hpp"

using namespace routemaster;
using namespace routemaster::detail;
using test::Allocations;
using test::FailingAllocation;

namespace {

/// Runs a job by the handler. Each allocation between the begin and the end of the job fails once.
void check_each_end(const Handler& handler) {
    const PublicationOptions publications;
    const auto table = std::make_shared<HandlerTable>();
    for (std::uint64_t n = 1;; ++n) {
        CAPTURE(n);
        const auto board = std::make_shared<JobBoard>(1, 1, false);
        std::vector<AttemptPtr> fresh{std::make_shared<Attempt>(
            0, n, Job{"resize", {}}, Lease{}, handler, TimePoint{}, system_clock(), publications)};
        fresh.front()->timeout = Duration{1'000};
        board->offer(fresh);
        bool failed = false;
        {
            const FailingAllocation failing{Allocations::of_this_thread, n};
            CHECK_NOTHROW(table->run(board->next_now(), board));
            failed = failing.happened();
        }
        const auto report = board->take();
        REQUIRE(report.ended.size() == 1);
        CHECK(report.begun.size() == 1);
        CHECK(report.running == 0);
        if (!failed) return;
    }
}

}  // namespace

TEST_CASE("when memory runs out, a pool still learns of the end of a job") {
    check_each_end({.handle = [](JobContext&) {}});
    check_each_end({.handle = [](JobContext&) {
        throw std::runtime_error{"a text that is too long to be stored in place"};
    }});
    check_each_end({.handle = [](JobContext&) { throw 1; }});
    check_each_end({.begin = [](const JobResponder& responder) { responder.done(); }});
    check_each_end({.begin = [](const JobResponder&) {}});
    check_each_end({.begin = [](const JobResponder&) {
        throw std::runtime_error{"a text that is too long to be stored in place"};
    }});
}

TEST_CASE("the end of a job allocates no memory") {
    const Handler handler{.handle = [](JobContext&) {}};
    const PublicationOptions publications;
    const auto table = std::make_shared<HandlerTable>();
    const auto board = std::make_shared<JobBoard>(1, 1, false);
    std::vector<AttemptPtr> fresh{std::make_shared<Attempt>(
        0, 1, Job{"resize", {}}, Lease{}, handler, TimePoint{}, system_clock(), publications)};
    board->offer(fresh);
    const FailingAllocation failing{Allocations::of_this_thread, 1};
    table->run(board->next_now(), board);
    CHECK(!failing.happened());
}

TEST_CASE("when memory runs out, a listener still learns of the end of a timer") {
    for (const bool confirms : {true, false}) {
        for (std::uint64_t n = 1;; ++n) {
            CAPTURE(n);
            const auto board = std::make_shared<TimerBoard>(1);
            FiredTimer fired;
            fired.id = "a text that is too long to be stored in place";
            board->offer({fired});
            static_cast<void>(board->next_now());
            Timer timer;
            timer.id = fired.id;
            auto response = std::make_shared<TimerResponse>(
                board, [](LogLevel, std::string_view) {}, std::move(timer), system_clock(),
                PublicationOptions{});
            bool failed = false;
            {
                const FailingAllocation failing{Allocations::of_this_thread, n};
                if (confirms) CHECK_NOTHROW(response->confirm());
                response.reset();
                failed = failing.happened();
            }
            CHECK(board->take(false).ended.size() == 1);
            CHECK(board->running() == 0);
            if (!failed) break;
        }
    }
}

/// Fires a timer at a listener whose thread fails one allocation, the first, the second, and so on.
template <class TimersHandler>
void check_each_firing(TimersHandler handler) {
    for (std::uint64_t n = 1;; ++n) {
        CAPTURE(n);
        MemoryStore store;
        // Polled by this thread; the handler runs on a thread of the listener.
        TimerListener listener{
            store, "a_namespace_of_timers", handler, {.threads = 1, .log = [](auto, auto) {}}};
        Delayer{store, "a_namespace_of_timers"}
            .post("a timer with a long name", Duration{0})
            .value();
        const auto now = system_clock().now();
        static_cast<void>(listener.poll(now));
        const FailingAllocation failing{Allocations::of_other_threads, n};
        REQUIRE(test::await([&] {
            static_cast<void>(listener.poll(now));
            return listener.status().handled + listener.status().failed == 1;
        }));
        CHECK(listener.status().running == 0);
        if (!failing.happened()) return;
    }
}

TEST_CASE("a listener keeps running when the thread of its handler runs out of memory") {
    check_each_firing(TimerHandler{[](TimerContext&) {}});
    check_each_firing(TimerHandler{
        [](TimerContext&) { throw std::runtime_error{"a text that is stored elsewhere"}; }});
    check_each_firing(AsyncTimerHandler{[](const TimerResponder&) {}});
    check_each_firing(AsyncTimerHandler{[](const TimerResponder&) {
        throw std::runtime_error{"a text that is stored elsewhere"};
    }});
}

TEST_CASE("a delivery to a callback fails when there is no memory for its events") {
    bool ever_failed = false;
    for (std::uint64_t n = 1;; ++n) {
        CAPTURE(n);
        Callbacks callbacks;
        callbacks.set("billing", [](const Batch&) {});
        LocalTransport transport{callbacks, {.threads = 0}};
        std::optional<DeliveryReport> report;
        bool failed = false;
        Delivery delivery{.batch = Uid{1, 2},
                          .subscriber = "a subscriber with a long name",
                          .callback = std::string{local_scheme} + "billing"};
        {
            const FailingAllocation failing{Allocations::of_this_thread, n};
            CHECK_NOTHROW(transport.deliver(std::move(delivery),
                                            [&](DeliveryReport got) { report = std::move(got); }));
            failed = failing.happened();
        }
        ever_failed = ever_failed || failed;
        REQUIRE(report);
        CHECK(report->outcome.has_value() == !failed);
        if (!failed) break;
    }
    CHECK(ever_failed);
}
