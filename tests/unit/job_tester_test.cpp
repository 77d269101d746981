#include "routemaster/testing/job_tester.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/job_exceptions.hpp"
#include "routemaster/recurring_jobs.hpp"

using namespace routemaster;
using namespace routemaster::testing;
using namespace std::chrono_literals;

namespace {

struct Welcome {
    static constexpr std::string_view name = "welcome";
    std::string to;

    [[nodiscard]] Value::Array encode() const { return {to}; }
    static Result<Welcome> decode(const Value::Array& arguments) {
        const auto* to = arguments.size() == 1 ? arguments[0].get_if<std::string>() : nullptr;
        if (to == nullptr) return Error{Errc::invalid, "to"};
        return Welcome{*to};
    }
};

/// A tester. Its handlers record the recipients of mails.
struct MailTester : JobTester {
    MailTester() : JobTester{{.queues = {"mail"}}} {
        pool().handle<Welcome>([this](const Welcome& mail) { sent.push_back(mail.to); });
    }

    std::vector<std::string> sent;
};

}  // namespace

TEST_CASE("a tester counts a job without a handler, and leaves the job in its queue") {
    MailTester tester;
    tester.queue("mail").push(Job{"goodbye"}).value();
    CHECK(tester.drain() == 0);
    CHECK(tester.pool().status().unhandled == 1);
    CHECK(tester.queue("mail").status().value().scheduled == 1);
}

TEST_CASE("a tester shows pushed jobs before they run") {
    MailTester tester;
    auto mail = tester.queue("mail");
    mail.push(Welcome{"ada"}).value();
    CHECK(mail.push(Welcome{"ada"}).value() == PushOutcome::duplicate);
    mail.push(Welcome{"bob"}, {.run_at = tester.clock().now() + 1min}).value();
    mail.push({.name = "other", .arguments = {Value{std::int64_t{1}}}}).value();

    CHECK(tester.pushed().size() == 3);
    REQUIRE(tester.pushed(Welcome{"ada"}).size() == 1);
    CHECK(tester.pushed(Welcome{"ada"})[0].queue == "mail");
    CHECK(tester.pushed("welcome").at(1).run_at == tester.clock().now() + 1min);
    CHECK(tester.pushed("other", {Value{std::int64_t{1}}}).size() == 1);
    CHECK(tester.pushed("other", {Value{std::int64_t{2}}}).empty());
    CHECK(tester.pushed(Welcome{"eve"}).empty());
    CHECK(tester.sent.empty());

    tester.forget_pushed();
    CHECK(tester.pushed().empty());
    tester.drain();
    CHECK(tester.sent == std::vector<std::string>{"ada"});
}

TEST_CASE("a tester runs jobs that handlers push, and delayed jobs when due") {
    MailTester tester;
    auto mail = tester.queue("mail");
    std::vector<Duration> at;
    const auto start = tester.clock().now();
    tester.pool().handle("invite", [&](JobContext& job) {
        at.push_back(tester.clock().now() - start);
        mail.push(Welcome{std::to_string(job.id())}).value();
    });
    mail.push({"invite", {Value{std::int64_t{1}}}}).value();
    mail.push({"invite", {Value{std::int64_t{2}}}}, {.delay = 90min}).value();
    mail.push({"invite", {Value{std::int64_t{3}}}}, {.delay = 30min}).value();

    CHECK(tester.drain() == 2);
    CHECK(tester.drain() == 0);
    CHECK(tester.advance(2h) == 4);
    CHECK(at == std::vector<Duration>{0min, 30min, 90min});
    CHECK(tester.clock().now() - start == 2h);
    CHECK(tester.sent.size() == 3);
}

TEST_CASE("a tester retries failed jobs, and keeps BURIED jobs") {
    JobTester tester{{.queues = {"mail"}, .retry = {.attempts_max = 3}}};
    int attempts = 0;
    tester.pool().handle("welcome", [&](JobContext&) {
        ++attempts;
        throw std::runtime_error{"no such mailbox"};
    });
    auto mail = tester.queue("mail");
    mail.push(Welcome{"ada"}).value();
    CHECK(tester.drain() == 1);
    CHECK(mail.status().value().scheduled == 1);
    CHECK(tester.advance(1h) == 2);
    CHECK(attempts == 3);
    CHECK(mail.status().value().buried == 1);
}

TEST_CASE("a tester in immediate mode runs each pushed job at once") {
    MailTester tester;
    auto mail = tester.queue("mail");
    bool ended = false;
    std::vector<std::string> sent_inside;
    tester.pool().handle("invite", [&](JobContext&) {
        mail.push(Welcome{"ada"}).value();
        sent_inside = tester.sent;
        ended = true;
    });
    tester.run_at_once(true);
    mail.push({"invite", {}}).value();
    CHECK(ended);
    CHECK(sent_inside.empty());
    CHECK(tester.sent == std::vector<std::string>{"ada"});

    tester.run_at_once(false);
    mail.push(Welcome{"bob"}).value();
    CHECK(tester.sent.size() == 1);
}

TEST_CASE("in a tester, asynchronous handlers end with their responders") {
    JobTester tester{{.queues = {"mail"}, .concurrency = 4}};
    std::vector<JobResponder> responders;
    tester.pool().handle_async(
        "welcome", [&](JobResponder responder) { responders.push_back(std::move(responder)); });
    auto mail = tester.queue("mail");
    mail.push(Welcome{"ada"}).value();
    CHECK(tester.drain() == 0);
    REQUIRE(responders.size() == 1);
    CHECK(tester.advance(1min) == 0);
    responders[0].done();
    CHECK(tester.drain() == 1);
    CHECK(mail.status().value() == QueueStatus{});
}

TEST_CASE("a tester runs recurring jobs at their ticks") {
    JobTester tester{{.queues = {"checks"}}};
    const auto start = tester.clock().now();
    std::vector<Duration> pings;
    tester.pool().handle("ping", [&](JobContext&) {
        pings.push_back(tester.clock().now() - start);
        if (pings.size() == 2) throw std::runtime_error{"no reply"};
    });
    RecurringJobs recurring{tester.store(), tester.clock()};
    // Ticks fall on multiples of 10 s. This instant is one of them.
    recurring
        .every("ping", 10s, "checks", {"ping", {}}, {.catch_up = CatchUp::all, .overlap = true})
        .value();
    CHECK(tester.advance(9'999ms) == 0);
    CHECK(tester.advance(1ms) == 1);
    CHECK(pings == std::vector<Duration>{10s});
    // The second run fails. Its next attempt comes between two ticks.
    CHECK(tester.advance(30s) >= 4);
    CHECK(std::count(pings.begin(), pings.end(), Duration{20s}) == 1);
    CHECK(std::count(pings.begin(), pings.end(), Duration{40s}) == 1);

    pings.assign(3, Duration{0});
    tester.clock().advance(60s);
    CHECK(pings.size() == 3);
    tester.drain();
    CHECK(pings.size() == 9);
    CHECK(pings.back() == 100s);
    CHECK(tester.pushed().empty());

    recurring.pause("ping").value();
    CHECK(tester.advance(60s) == 0);
    recurring.trigger("ping").value();
    CHECK(tester.pushed("ping").size() == 1);
    CHECK(tester.drain() == 1);
}

TEST_CASE("a tester runs each job at its due time, however long the wait") {
    JobTester tester{{.queues = {"work"}}};
    const auto start = tester.clock().now();
    std::vector<Duration> times;
    tester.pool().handle("a", [&](JobContext&) { times.push_back(tester.clock().now() - start); });
    auto work = tester.queue("work");
    for (const auto wait : {Duration{1}, Duration{61'234}, Duration{24h}, Duration{24h} + 7ms}) {
        work.push({"a", {wait.count()}}, {.run_at = start + wait}).value();
    }
    tester.advance(25h);
    CHECK(times == std::vector<Duration>{1ms, 61'234ms, 24h, 24h + 7ms});

    // The rate limit allows one job per ten seconds.
    times.clear();
    work.limit_rate({.queue = RateLimit{.jobs = 1, .per = 10s}}).value();
    for (int i = 0; i < 4; ++i) work.push({"a", {"limited", i}}).value();
    tester.advance(60s);
    CHECK(times == std::vector<Duration>{25h, 25h + 10s, 25h + 20s, 25h + 30s});

    // A paused queue continues when it is resumed.
    times.clear();
    work.limit_rate({}).value();
    work.pause().value();
    work.push({"a", {}}).value();
    CHECK(tester.advance(10h) == 0);
    work.resume().value();
    CHECK(tester.drain() == 1);
}

TEST_CASE("a tester does not time out the job of an asynchronous handler for days") {
    JobTester tester{{.queues = {"work"}, .concurrency = 4}};
    std::vector<JobResponder> held;
    tester.pool().handle_async("a",
                               [&](const JobResponder& responder) { held.push_back(responder); });
    tester.queue("work").push({"a", {}}).value();
    tester.drain();
    REQUIRE(held.size() == 1);
    CHECK(tester.advance(72h) == 0);
    CHECK(held.size() == 1);
    held[0].done();
    CHECK(tester.drain() == 1);
    CHECK(tester.queue("work").status().value() == QueueStatus{});
}
