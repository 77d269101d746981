// Many simultaneous deliveries: their order, and the resources in use.

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "routemaster/transport/http.hpp"
#include "support/await.hpp"
#include "support/deliveries.hpp"
#include "support/delivery_reports.hpp"
#include "support/local_delivery.hpp"
#include "support/scripted_receiver.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::deliver;
using test::delivery;
using test::DeliveryReports;
using test::local;
using test::local_within;
using test::ReceivedRequest;
using test::ScriptedReceiver;
using test::silence;
using test::status;

namespace {

std::chrono::microseconds processor_time() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds{usage.ru_utime.tv_sec + usage.ru_stime.tv_sec} +
           std::chrono::microseconds{usage.ru_utime.tv_usec + usage.ru_stime.tv_usec};
}

/// The threads of this process, with their nice values.
std::map<id_t, int> threads() {
    std::map<id_t, int> all;
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
        const auto thread = static_cast<id_t>(std::stoul(task.path().filename().string()));
        all.emplace(thread, getpriority(PRIO_PROCESS, thread));
    }
    return all;
}

/// The time slice of a thread in the scheduler; 0 for this thread. Zero before Linux 6.12.
std::chrono::nanoseconds slice_of(id_t thread) {
    std::array<std::uint64_t, 6> attributes{};
    constexpr std::size_t slice = 3;  // As in sched_attr, which cannot be included together with
                                      // <sched.h>.
    if (syscall(SYS_sched_getattr, thread, attributes.data(), sizeof attributes, 0) != 0) return {};
    return std::chrono::nanoseconds{attributes.at(slice)};
}

/// Raises the soft limit of open files to the hard limit.
void raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

TEST_CASE("only a transport's thread for unhealthy subscribers has the lowest priority") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    const int own = getpriority(PRIO_PROCESS, 0);
    const auto before = threads();
    HttpTransport transport{local};
    for (const bool unhealthy : {true, false}) {
        Delivery one = delivery(receiver.url());
        one.unhealthy = unhealthy;
        CHECK(deliver(transport, std::move(one)).outcome);
    }
    std::vector<int> added;
    for (const auto& [thread, niceness] : threads()) {
        if (before.contains(thread) || niceness == own) continue;
        added.push_back(niceness);
        if (slice_of(0) > 0ns) CHECK_MESSAGE(slice_of(thread) > slice_of(0), "others preempt it");
    }
    // No thread is added to a process that itself has the lowest priority.
    CHECK(added == (own == 19 ? std::vector<int>{} : std::vector<int>{19}));
}

TEST_CASE(
    "deliveries beyond the limit of concurrent deliveries wait, and no timeout runs meanwhile") {
    ScriptedReceiver receiver{[](const ReceivedRequest& request) {
        return request.number == 0 ? silence() : status(204);
    }};
    HttpTransportOptions options = local_within(300ms);
    options.in_flight_max = 1;
    HttpTransport transport{options};
    DeliveryReports reports;
    for (int i = 0; i < 4; ++i) transport.deliver(delivery(receiver.url()), reports.keep());
    const auto all = reports.wait_for(4);
    CHECK_FALSE(all[0].outcome);
    CHECK(all[1].outcome);
    CHECK(all[2].outcome);
    CHECK(all[3].outcome);
}

TEST_CASE("deliveries to unhealthy subscribers use no capacity of healthy subscribers") {
    ScriptedReceiver silent{[](const ReceivedRequest&) { return silence(); }};
    ScriptedReceiver prompt{[](const ReceivedRequest&) { return status(204); }};
    DeliveryReports cancelled;
    {
        HttpTransportOptions options = local_within(120s);
        options.in_flight_max = 1;
        HttpTransport transport{options};
        for (int i = 0; i < 2; ++i) {
            auto unhealthy = delivery(silent.url());
            unhealthy.unhealthy = true;
            transport.deliver(std::move(unhealthy), cancelled.keep());
        }
        silent.wait_for_requests(1);
        for (int i = 0; i < 3; ++i) CHECK(deliver(transport, delivery(prompt.url())).outcome);
        CHECK(cancelled.all().empty());
        CHECK(silent.connections() == 1);
    }
    CHECK(cancelled.all().size() == 2);
}

TEST_CASE("concurrent deliveries and idle kept-alive connections have separate limits") {
    ScriptedReceiver one{[](const ReceivedRequest&) { return status(204); }};
    ScriptedReceiver other{[](const ReceivedRequest&) { return status(204); }};
    const auto connections_to_one = [&](std::size_t kept) {
        const auto before = one.connections();
        HttpTransportOptions options = local;
        options.in_flight_max = 1;
        options.connections_kept_max = kept;
        HttpTransport transport{options};
        for (const auto* receiver : {&one, &other, &one}) {
            CHECK(deliver(transport, delivery(receiver->url())).outcome);
            std::this_thread::sleep_for(5ms);  // libcurl compares whole milliseconds.
        }
        return one.connections() - before;
    };
    CHECK(connections_to_one(2) == 1);
    CHECK(connections_to_one(1) == 2);

    ScriptedReceiver silent{[](const ReceivedRequest&) { return silence(); }};
    DeliveryReports cancelled;
    HttpTransportOptions options = local;
    options.in_flight_max = 20;
    options.connections_kept_max = 1;
    HttpTransport transport{options};
    for (int i = 0; i < 20; ++i) transport.deliver(delivery(silent.url()), cancelled.keep());
    silent.wait_for_requests(20);
    CHECK(cancelled.all().empty());
}

TEST_CASE("two thousand deliveries to a silent receiver do not slow down another receiver") {
    raise_descriptor_limit();
    ScriptedReceiver silent{[](const ReceivedRequest&) { return silence(); }};
    ScriptedReceiver prompt{[](const ReceivedRequest&) { return status(204); }};
    DeliveryReports cancelled;
    {
        HttpTransportOptions options = local_within(120s);
        options.in_flight_max = 2'100;
        options.connections_kept_max = 2'100;
        HttpTransport transport{options};
        for (int i = 0; i < 2'000; ++i) transport.deliver(delivery(silent.url()), cancelled.keep());
        silent.wait_for_requests(2'000);
        std::vector<std::chrono::steady_clock::duration> times;
        for (int i = 0; i < 50; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            REQUIRE(deliver(transport, delivery(prompt.url())).outcome);
            times.push_back(std::chrono::steady_clock::now() - begin);
        }
        std::sort(times.begin(), times.end());
        CHECK(times[25] < 50ms);
        CHECK(prompt.connections() == 1);
        CHECK(cancelled.all().empty());
    }
    CHECK(cancelled.all().size() == 2'000);
}

TEST_CASE("many threads deliver at once, and every delivery ends once") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    DeliveryReports reports;
    HttpTransport transport{local};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 250; ++i) {
                    transport.deliver(delivery(receiver.url()), reports.keep());
                }
            });
        }
    }
    const auto all = reports.wait_for(1'000);
    CHECK(all.size() == 1'000);
    CHECK(std::all_of(all.begin(), all.end(), [](const auto& r) { return r.outcome.has_value(); }));
    CHECK(receiver.requests().size() == 1'000);
}

TEST_CASE("the completion of a delivery may begin another delivery") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    DeliveryReports reports;
    HttpTransport transport{local};
    transport.deliver(delivery(receiver.url()), [&](DeliveryReport) {
        transport.deliver(delivery(receiver.url()), reports.keep());
    });
    CHECK(reports.wait_for(1).front().outcome);
    CHECK(receiver.requests().size() == 2);
}

TEST_CASE("an idle transport uses no processor time") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    HttpTransport transport{local};
    DeliveryReports reports;
    for (int i = 0; i < 20; ++i) transport.deliver(delivery(receiver.url()), reports.keep());
    std::ignore = reports.wait_for(20);
    // Connections closed by the peer must leave the set; otherwise they would be readable for ever.
    receiver.close_connections();
    const auto before = processor_time();
    std::this_thread::sleep_for(500ms);
    CHECK(processor_time() - before < 50ms);
}

TEST_CASE("a transport that has little to do lends its thread to one dispatcher at a time") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return silence(); }};
    DeliveryReports cancelled;
    std::atomic<int> turns = 0;
    HttpTransport transport{local};
    auto* const spare = transport.spare_thread();
    REQUIRE(spare != nullptr);
    CHECK(!spare->request_turn());
    REQUIRE(spare->lend([&] { ++turns; }));
    CHECK(!spare->lend([] {}));
    for (int i = 1; i <= 10; ++i) {
        CHECK(spare->request_turn());
        REQUIRE(test::await([&] { return turns == i; }));
    }
    std::size_t submitted = 0;
    CHECK(test::await([&] {
        for (int i = 0; i < 10; ++i) transport.deliver(delivery(receiver.url()), cancelled.keep());
        submitted += 10;
        bool refused = false;
        for (int i = 0; i < 1'000 && !refused; ++i) refused = !spare->request_turn();
        return refused;
    }));
    // Deliveries that wait for a response use no time, however many they are.
    REQUIRE(test::await([&] { return receiver.requests().size() == submitted; }));
    REQUIRE(test::await([&] { return spare->request_turn(); }));
    for (int i = 0; i < 100; ++i) {
        const int before = turns;
        REQUIRE(spare->request_turn());
        REQUIRE(test::await([&] { return turns > before; }));
        std::this_thread::sleep_for(50us);
    }
    spare->take_back();
    CHECK(spare->lend([] {}));
    spare->take_back();
}

TEST_CASE("a delivery submitted from the lent thread begins before the next poll on that thread") {
    ScriptedReceiver receiver{[](const ReceivedRequest&) { return status(204); }};
    DeliveryReports reports;
    HttpTransport transport{local};
    // Opens a connection, over which the next request is sent at once.
    CHECK(deliver(transport, delivery(receiver.url())).outcome);
    auto* const spare = transport.spare_thread();
    std::atomic<int> turns = 0;
    std::atomic<bool> begun = false;
    REQUIRE(spare->lend([&] {
        if (++turns == 1) {
            transport.deliver(delivery(receiver.url()), reports.keep());
            CHECK(spare->request_turn());
        } else if (turns == 2) {
            begun = test::await([&] { return receiver.requests().size() == 2; }, 1s);
        }
    }));
    REQUIRE(spare->request_turn());
    CHECK(test::await([&] { return turns == 2; }));
    CHECK(reports.wait_for(1)[0].outcome);
    spare->take_back();
    CHECK(begun);
}

TEST_CASE("a transport takes its lent thread back when the current poll on it has ended") {
    std::promise<void> begun;
    std::promise<void> end;
    std::atomic<bool> over = false;
    HttpTransport transport{local};
    auto* const spare = transport.spare_thread();
    REQUIRE(spare->lend([&] {
        begun.set_value();
        end.get_future().wait();
        over = true;
    }));
    REQUIRE(spare->request_turn());
    begun.get_future().wait();
    const std::jthread releases{[&] { end.set_value(); }};
    spare->take_back();
    CHECK(over);
    CHECK(!spare->request_turn());
}
