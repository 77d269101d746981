// The findings that prevent a move back to Ruby Routemaster.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/action_timers.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/store/redis_rollback.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

const std::string uid_a = "BATCHBATCHBATCHBAAAA";
const std::string uid_b = "BATCHBATCHBATCHCAAAA";

/// The findings, one line each. A `~` marks a finding that does not prevent the move.
std::vector<std::string> findings(RedisScene& s, RollbackOptions options = {}) {
    std::vector<std::string> found;
    for (const auto& one : check_rollback({.addresses = {s.server.address()}}, options).value()) {
        CHECK_FALSE(one.remedy.empty());
        CHECK(one.what.find('\n') == std::string::npos);
        found.push_back((one.in_the_way ? "" : "~ ") + one.what);
    }
    return found;
}

bool has_finding(const std::vector<std::string>& found, const std::string& beginning) {
    return std::any_of(found.begin(), found.end(),
                       [&](const std::string& one) { return one.starts_with(beginning); });
}

/// Runs a routemaster worker with --mixed-fleet until its work is done.
void run_mixed(RedisScene& s) {
    RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
    for (int i = 0; i < 3; ++i) CHECK(perform(mixed, ScrubWorkers{Duration{30'000}}, s.now));
}

std::string unreadable_message(const RedisScene& s) {
    Event event{.topic = "cats", .type = EventType::create, .url = "https://example.com/cats/1"};
    event.data = Value{Value::Map{{"a", Value{std::string(100, 'x')}}}};
    return encode_message(event, s.now);
}

PublishEvent unreadable_publication(const RedisScene& s, const std::string& uid = uid_a) {
    return {.topic = "cats",
            .publisher = "pub--secret",
            .message = unreadable_message(s),
            .timestamp = s.now,
            .uid = *Uid::parse(uid)};
}

}  // namespace

TEST_CASE("rollback: an empty server, and a bus without obstacles, yield no findings") {
    RedisScene s;
    CHECK(findings(s).empty());
    s.subscribe();
    s.publish();
    CHECK(findings(s) == std::vector<std::string>{"1 ordering group"});
    run_mixed(s);
    CHECK(findings(s).empty());
}

TEST_CASE("rollback: an unreachable server is an error") {
    std::uint16_t port = 0;
    {
        const test::RedisServer gone;
        port = gone.address().port;
    }
    const auto found =
        check_rollback({.addresses = {{"127.0.0.1", port}}, .timeout = Duration{300}});
    REQUIRE(!found);
    CHECK(found.error().code() == Errc::unavailable);
}

TEST_CASE(
    "rollback: blocked deliveries and ordering groups are found, until a worker unblocks them") {
    RedisScene s;
    s.subscribe();
    for (const auto& uid : std::vector{uid_a, uid_a, uid_b, uid_b}) s.publish(uid);
    const auto found = findings(s);
    CHECK(has_finding(found, "1 delivery waits in an ordering group"));
    CHECK(has_finding(found, "1 ordering group"));
    run_mixed(s);
    CHECK(findings(s).empty());
}

TEST_CASE("rollback: batches with events that no Ruby worker can read are found") {
    RedisScene s;
    s.subscribe();
    const std::string one =
        "1 batch of 'bill…' with an event that no Ruby worker can read, the first " + uid_a +
        ": data: takes 105 bytes of MessagePack, more than the 64 that Ruby workers read";
    SUBCASE("the batches were set aside when the events arrived") {
        s.perform(unreadable_publication(s));
        run_mixed(s);
        const auto found = findings(s);
        REQUIRE(found.size() == 2);
        CHECK(found[0] == one);
        CHECK(found[1].starts_with("1 delivery is in lists that Ruby workers do not read"));
        s.now += Duration{500};
        RedisStore mixed{{.addresses = {s.server.address()}, .mixed_fleet = true}};
        const AcquireJobs step{.queue = "main", .worker = s.worker, .limit = 1};
        const auto lease = perform(mixed, step, s.now).value().leases.at(0);
        CHECK(findings(s).size() == 2);
        s.begin(lease);
        s.settle(lease);
        CHECK(findings(s).empty());
    }
    SUBCASE("the batches are of a version that did not set such batches aside") {
        s.publish(uid_a);
        s.other({"RPUSH", "batches:" + uid_a, unreadable_message(s)});
        run_mixed(s);
        CHECK(findings(s) == std::vector<std::string>{
                                 one + "; a Ruby worker terminates when it acquires such a batch"});
        CHECK(findings(s, {.set_aside = true}).at(0) == one);
        CHECK(s.other({"EXISTS", "jobs:scheduled:main"}).number == 0);
        CHECK(findings(s).at(0) == one);
        s.now += Duration{500};
        CHECK(s.begin(s.acquire()).messages.size() == 2);
    }
    SUBCASE("the batches are many, and checked in pages") {
        for (int i = 0; i < 250; ++i) {
            auto uid = std::to_string(10'000 + i) + "BATCHBATCHBATCH";
            s.perform(unreadable_publication(s, uid));
            s.perform(unreadable_publication(s, uid));
        }
        run_mixed(s);
        CHECK(has_finding(findings(s), "250 batches of 'bill…' with an event"));
    }
    SUBCASE("the batches are DEAD") {
        s.publish(uid_a);
        s.other({"LPUSH", "batches:" + uid_a, "status 410"});
        s.other({"RPUSH", "batches:" + uid_a, unreadable_message(s)});
        s.other({"RENAME", "batches:" + uid_a, "routemaster:dead_batch:" + uid_a});
        s.other({"ZADD", "routemaster:dead", "1", uid_a});
        s.other({"ZREM", "batches:index", uid_a});
        run_mixed(s);
        auto found = findings(s);
        CHECK(has_finding(found, "1 DEAD batch with an event that no Ruby worker can read"));
        CHECK(has_finding(found, "~ 1 DEAD batch"));
        findings(s, {.set_aside = true});
        CHECK(findings(s) == std::vector<std::string>{"~ 1 DEAD batch"});
    }
}

TEST_CASE("rollback: subscribers that Ruby processes misread are found") {
    RedisScene s;
    s.perform(Subscribe{"audit", {"cats"}, {.callback = "local:audit", .max_events = 1}});
    s.publish(uid_a);
    run_mixed(s);
    const auto found = findings(s);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == "the callback of 'audi…', local:audi…, is not a URL");
    CHECK(found[1].starts_with("1 delivery is in lists that Ruby workers do not read"));
    s.perform(Subscribe{"audit", {"cats"}, {.callback = "https://audit.example/"}});
    run_mixed(s);
    CHECK(findings(s).empty());
}

TEST_CASE("rollback: topics that break GET /topics of a Ruby web process are found") {
    RedisScene s;
    s.perform(Subscribe{"billing", {"cats", "orders.v2"}, {.callback = "https://a.example/"}});
    CHECK(findings(s) == std::vector<std::string>{"the topic 'orders.v2'; with this topic, GET "
                                                  "/topics of a Ruby web process returns 500"});
    s.perform(RemoveTopic{"orders.v2", std::nullopt});
    CHECK(findings(s).empty());
}

TEST_CASE("rollback: jobs unknown to Ruby workers are found") {
    RedisScene s;
    s.perform(PushJob{"aux", encode_job({"monitor"}), s.now});
    CHECK(findings(s).empty());
    s.perform(PushJob{"aux", encode_job({"resize"}), s.now});
    s.perform(PushJob{"main", encode_job({"resize"}), s.now});
    const std::string of_main = "1 job of 'main' that Ruby workers do not know, the first 'resize'";
    const std::string of_aux = "1 job of 'aux' that Ruby workers do not know, the first 'resize'";
    auto found = findings(s);
    CHECK(found.size() == 2);
    CHECK(has_finding(found, of_main));
    CHECK(has_finding(found, of_aux));
    const auto leases =
        s.perform(AcquireJobs{.queue = "aux", .worker = s.worker, .limit = 9}).leases;
    CHECK(leases.size() == 2);
    CHECK_MESSAGE(has_finding(findings(s), of_aux), "PENDING");
    s.perform(RetireWorker{s.worker});
    run_mixed(s);
    found = findings(s);
    CHECK(found.size() == 2);
    CHECK(has_finding(found, of_main));
    CHECK(has_finding(found, "~ 1 job of 'aux' set aside"));
}

TEST_CASE("rollback: actions that a mixed deployment refuses are found") {
    RedisScene s;
    ActionTimers actions{s.store};
    const DeliverAction without_url{
        "billing", {.topic = "timers", .type = EventType::noop, .data = Value::Map{{"order", 42}}}};
    const DeliverAction good{
        "billing",
        {.topic = "timers", .type = EventType::noop, .url = "https://shop.example/orders/42"}};
    CHECK(actions.post(good, std::chrono::hours{1}, "good"));
    CHECK(findings(s) == std::vector<std::string>{"~ 1 timer with an action"});
    CHECK(actions.post(without_url, std::chrono::hours{1}, "bad"));
    CHECK(actions.post(PushAction{.queue = "aux", .job = {"resize", {}}}, std::chrono::hours{1},
                       "worse"));
    CHECK(actions.cron("digest", "0 7 * * *", without_url));
    CHECK(actions.cron("fine", "0 7 * * *", good));
    const auto found = findings(s);
    CHECK(found.size() == 5);
    CHECK(has_finding(
        found,
        "the timer 'bad' becomes DEAD at its due time in a mixed deployment: deliver: url: URL"));
    CHECK(has_finding(
        found,
        "the timer 'worse' becomes DEAD at its due time in a mixed deployment: push: queue: aux"));
    CHECK(has_finding(found,
                      "the recurring job 'digest' posts timers that become DEAD in a mixed "
                      "deployment: deliver: url: URL"));
    CHECK(has_finding(found, "~ 3 timers with an action"));
    CHECK(has_finding(found, "~ 2 recurring jobs"));
}

TEST_CASE("rollback: jobs of routemaster's own queues remain, as a remark") {
    RedisScene s;
    JobQueue images{s.store, "images"};
    CHECK(images.push({"resize", {1}}));
    CHECK(images.push({"resize", {2}}));
    CHECK(findings(s) ==
          std::vector<std::string>{"~ 2 jobs in queues that Ruby workers do not read"});
}
