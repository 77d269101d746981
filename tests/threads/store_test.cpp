#include "routemaster/store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/store/watchers.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/store/completion_thread.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/faulty_store.hpp"

using namespace routemaster;
using testing::Fault;
using testing::FaultyStore;

namespace {

constexpr TimePoint instant = from_milliseconds(1'000);

Result<Pushed> push(Store& store, const std::string& job) {
    return perform(store, PushJob{"q", job, instant}, instant);
}

std::uint64_t ready(Store& store) { return perform(store, CountJobs{"q"}, instant).value().ready; }

}  // namespace

TEST_CASE("a step can be performed with a completion, or by a blocking call") {
    MemoryStore store;
    CHECK(push(store, "a").value() == PushOutcome::pushed);
    std::optional<QueueStatus> replied;
    submit(store, CountJobs{"q"}, instant,
           [&](Result<QueueStatus> reply) { replied = reply.value(); });
    CHECK(replied == QueueStatus{.ready = 1});
    const auto refused = push(store, "");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code() == Errc::invalid);
}

TEST_CASE("a watch is ended once, even after moves") {
    int ends = 0;
    {
        Watch watch{[&] { ++ends; }};
        Watch moved{std::move(watch)};
        Watch assigned;
        assigned = std::move(moved);
        CHECK(ends == 0);
    }
    CHECK(ends == 1);
    Watch replaced{[&] { ++ends; }};
    replaced = Watch{};
    CHECK(ends == 2);
    // The watch that is replaced ends at once.
    Watch first{[&] { ++ends; }};
    Watch second{[&] { ends += 10; }};
    first = std::move(second);
    CHECK(ends == 3);
    auto& same = first;
    first = std::move(same);
    CHECK(ends == 3);
}

TEST_CASE("watches are woken only by the name of their queue") {
    detail::Watchers watchers;
    int a = 0;
    int aa = 0;
    const auto watch_a = watchers.add("a", [&] { ++a; });
    const auto watch_aa = watchers.add("aa", [&] { ++aa; });
    watchers.wake({"a", "b"});
    CHECK(std::pair{a, aa} == std::pair{1, 0});
    watchers.wake({});
    watchers.wake({"aa"});
    CHECK(std::pair{a, aa} == std::pair{1, 1});
}

TEST_CASE("a watch may outlive its store") {
    int woken = 0;
    std::optional<MemoryStore> store{std::in_place};
    {
        const auto watch = store->watch("q", [&] { ++woken; });
        store.reset();
    }
    CHECK(woken == 0);
}

TEST_CASE("with simulated faults, a lost request is not performed, and a lost reply is") {
    MemoryStore memory;
    FaultyStore store{memory};
    store.script({Fault::lost_request, Fault::lost_reply, Fault::none});
    const auto unheard = push(store, "a");
    REQUIRE_FALSE(unheard.has_value());
    CHECK(unheard.error().code() == Errc::unavailable);
    CHECK(unheard.error().retryable());
    CHECK(ready(memory) == 0);
    Step step{PushJob{"q", "a", instant}};
    const auto in_doubt = perform_all(store, {&step, 1}, instant).front();
    REQUIRE_FALSE(in_doubt.has_value());
    CHECK(in_doubt.error().code() == Errc::timed_out);
    CHECK(ready(memory) == 1);
    CHECK(push(store, "a").value() == PushOutcome::duplicate);
    CHECK(push(store, "b").value() == PushOutcome::pushed);
    CHECK(store.count(Fault::lost_request) == 1);
    CHECK(store.count(Fault::lost_reply) == 1);
    CHECK(store.count(Fault::none) == 2);
}

TEST_CASE("a step in doubt (without a reply) is repeated when a repetition is harmless") {
    MemoryStore memory;
    FaultyStore store{memory};
    store.script({Fault::lost_reply, Fault::lost_reply});
    CHECK(push(store, "a").value() == PushOutcome::duplicate);
    CHECK(store.count(Fault::lost_reply) == 2);
    store.script({Fault::lost_reply});
    bool replied = false;
    submit(store, PushJob{"q", "b", instant}, instant,
           [&](Result<Pushed> outcome) { replied = outcome.value() == PushOutcome::duplicate; });
    CHECK(replied);
    CHECK(ready(memory) == 2);
}

TEST_CASE("the number of repetitions of a step in doubt is limited") {
    MemoryStore memory;
    FaultyStore store{memory, {.lost_replies = 1}};
    CHECK(push(store, "a").error().code() == Errc::timed_out);
    CHECK(store.count(Fault::lost_reply) == repeats_max + 1);
    std::optional<std::error_code> replied;
    submit(store, PushJob{"q", "b", instant}, instant,
           [&](const Result<Pushed>& outcome) { replied = outcome.error().code(); });
    CHECK(replied == Errc::timed_out);
    CHECK(store.count(Fault::lost_reply) == 2 * (repeats_max + 1));
}

TEST_CASE("a step in doubt stays in doubt when its repetition is refused") {
    MemoryStore memory;
    FaultyStore store{memory};
    const auto doubtful = {Fault::lost_reply, Fault::lost_request};
    store.script(doubtful);
    CHECK(push(store, "a").error().code() == Errc::timed_out);
    store.script(doubtful);
    std::optional<std::error_code> replied;
    submit(store, PushJob{"q", "b", instant}, instant,
           [&](const Result<Pushed>& reply) { replied = reply.error().code(); });
    CHECK(replied == Errc::timed_out);
    CHECK(ready(memory) == 2);
    // A read-only step has no effect that could be in doubt.
    store.script(doubtful);
    CHECK(perform(store, CountJobs{"q"}, instant).error().code() == Errc::unavailable);
}

TEST_CASE("an event is not published again when its publication is in doubt") {
    MemoryStore memory;
    FaultyStore store{memory};
    store.script({Fault::lost_reply});
    const PublishEvent step{.topic = "orders",
                            .publisher = std::nullopt,
                            .message = "1",
                            .timestamp = instant,
                            .uid = Uid{1, 1}};
    CHECK(perform(store, step, instant).error().code() == Errc::timed_out);
    CHECK(perform(memory, ListTopics{}, instant).value().at(0).events == 1);
}

TEST_CASE("a simulated fault affects every step of its submission") {
    MemoryStore memory;
    FaultyStore store{memory};
    for (const auto fault : {Fault::lost_request, Fault::lost_reply}) {
        store.script({fault});
        std::vector<Step> steps{PushJob{"q", "a", instant}, PushJob{"q", "b", instant},
                                ListTopics{}};
        const auto outcomes = perform_all(store, steps, instant);
        CHECK(outcomes.size() == 3);
        for (const auto& outcome : outcomes) CHECK_FALSE(outcome.has_value());
        CHECK(ready(memory) == (fault == Fault::lost_request ? 0 : 2));
    }
}

TEST_CASE("random faults are as frequent as requested, and repeat exactly for an equal seed") {
    const auto faults = [](testing::FaultOptions options) {
        MemoryStore memory;
        FaultyStore store{memory, options};
        std::string pattern;
        for (int i = 0; i < 1'000; ++i) {
            Step step{ListTopics{}};
            const auto reply = perform_all(store, {&step, 1}, instant).front();
            pattern += reply ? '.' : reply.error().code() == Errc::timed_out ? 'r' : 'q';
        }
        return pattern;
    };
    const testing::FaultOptions options{.seed = 5, .lost_requests = 0.2, .lost_replies = 0.1};
    const auto pattern = faults(options);
    CHECK(faults(options) == pattern);
    CHECK(faults({.seed = 6, .lost_requests = 0.2, .lost_replies = 0.1}) != pattern);
    const auto requests = std::count(pattern.begin(), pattern.end(), 'q');
    const auto replies = std::count(pattern.begin(), pattern.end(), 'r');
    CHECK(requests > 150);
    CHECK(requests < 250);
    CHECK(replies > 70);
    CHECK(replies < 130);
}

TEST_CASE("a store can have simulated faults for a limited time") {
    MemoryStore memory;
    FaultyStore store{memory};
    CHECK(push(store, "a").has_value());
    store.disturb({.lost_requests = 1});
    CHECK_FALSE(push(store, "b").has_value());
    store.disturb({});
    CHECK(push(store, "b").value() == PushOutcome::pushed);
}

TEST_CASE("blocking calls inside completions are refused, and their steps are not performed") {
    MemoryStore store;
    Bus bus{store};
    auto billing = bus.subscriber("billing");
    JobQueue jobs{store, "q"};
    const Event event{.topic = "orders", .type = EventType::noop, .url = "urn:order"};
    const auto is_refused = [](const auto& result) {
        return !result && result.error().code() == Errc::invalid &&
               result.error().context().find("`done`") != std::string::npos;
    };
    std::jthread{[&] {
        const CompletionThread marked;
        CHECK(is_refused(push(store, "a")));
        CHECK(is_refused(bus.publish(event)));
        CHECK(is_refused(bus.publish_many({&event, 1}).at(0)));
        CHECK(is_refused(bus.remove_topic("orders")));
        CHECK(is_refused(bus.topics()));
        CHECK(is_refused(billing.subscribe({"orders"}, {.callback = "https://b.example"})));
        CHECK(is_refused(billing.status()));
        CHECK(is_refused(jobs.push({"resize", {}})));
        CHECK(is_refused(jobs.push_many(std::vector<Job>(2, {"resize", {}})).at(1)));
        int replied = 0;
        bus.publish(event, [&](const Result<void>& reply) { replied += reply ? 1 : 0; });
        CHECK(replied == 1);
    }}.join();
    CHECK(bus.topics().value().at(0).events == 1);
    CHECK(!billing.status().value());
    CHECK(ready(store) == 0);
    CHECK(push(store, "a").value() == PushOutcome::pushed);
}
