// Steps that wait together are sent in one call. Their effects must be the same as in separate
// calls.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

/// Submits steps together. Returns their outcomes.
std::vector<Outcome> together(RedisScene& scene, std::vector<Step> steps) {
    std::promise<std::vector<Outcome>> answer;
    scene.store.submit(steps, scene.now, [&](std::span<Outcome> outcomes) {
        answer.set_value({outcomes.begin(), outcomes.end()});
    });
    return answer.get_future().get();
}

std::vector<Outcome> one_by_one(RedisScene& scene, const std::vector<Step>& steps) {
    std::vector<Outcome> outcomes;
    for (const auto& step : steps) outcomes.push_back(together(scene, {step}).front());
    return outcomes;
}

/// The number of scripts that the server has run.
std::int64_t calls(const RedisScene& scene) {
    const auto stats = scene.server.info("cmdstat_evalsha");
    const auto begin = stats.find("calls=") + 6;
    return std::stoll(stats.substr(begin, stats.find(',') - begin));
}

constexpr std::array<const char*, 3> subscribers{"audit", "billing", "mail"};

void subscribe_all(RedisScene& scene) {
    std::uint32_t max_events = 3;
    for (const auto* token : subscribers) {
        scene.perform(Subscribe{.token = token,
                                .topics = {"cats", token},
                                .options = {.callback = "https://example.com/events",
                                            .uuid = "demo",
                                            .timeout = Duration{500},
                                            .max_events = max_events}});
        max_events *= 30;
    }
}

/// Draws many steps of one kind, most of them simple.
class RandomGroups {
public:
    explicit RandomGroups(std::uint64_t seed) : random_{seed} {}

    std::vector<Step> next(TimePoint now) {
        const auto what = random_.below(5);
        std::vector<Step> steps;
        for (auto left = 2 + random_.below(60); left > 0; --left) {
            if (what == 0) steps.push_back(push(now));
            if (what == 1) steps.push_back(publish(now));
            if (what == 2) steps.push_back(post(now));
            if (what == 3 && !leases_.empty()) steps.push_back(ack());
            if (what == 4 && !fired_.empty()) steps.push_back(confirm());
        }
        return steps;
    }

    void got(const std::vector<Lease>& leases) {
        leases_.insert(leases_.end(), leases.begin(), leases.end());
    }
    void got(const std::vector<FiredTimer>& fired) {
        fired_.insert(fired_.end(), fired.begin(), fired.end());
    }

private:
    bool seldom() { return random_.below(12) == 0; }
    /// A span around now, in the future or in the past.
    Duration some_time() { return Duration{static_cast<std::int64_t>(random_.below(200)) - 100}; }

    Step push(TimePoint now) {
        PushJob step{"work", "job " + std::to_string(random_.below(300)), now + some_time()};
        if (seldom()) step.options.priority = 1;
        if (seldom()) step.options.group = "tenant";
        if (seldom()) step.options.key.text = "key " + std::to_string(random_.below(3));
        return step;
    }
    Step publish(TimePoint now) {
        const std::size_t size = seldom() ? 2'000 : 10;
        const std::string url = "https://example.com/" + std::string(size, 'x');
        const auto topic = seldom() ? "audit" : "cats";
        ++published_;
        return PublishEvent{
            .topic = topic,
            .publisher = seldom() ? "other--secret" : "pub--secret",
            .message = encode_message({.topic = topic, .type = EventType::create, .url = url}, now),
            .timestamp = now,
            // The store sets the last three characters.
            .uid = Uid{published_, published_ << 32U}};
    }
    Step post(TimePoint now) {
        PostTimer post{.space = "reminders",
                       .id = "timer " + std::to_string(random_.below(300)),
                       .payload = encode(Value{"tea"}),
                       .due_at = now + some_time(),
                       .retries_max = static_cast<std::uint32_t>(random_.below(3)),
                       .confirm_within = Duration{seldom() ? 50 : 0},
                       .keep = seldom()};
        if (post.retries_max == 0) post.confirm_within = Duration{0};
        return post;
    }
    Step ack() {
        auto lease = leases_[random_.below(leases_.size())];
        if (seldom()) ++lease.fence;
        if (seldom()) lease.id = seldom() ? 0 : lease.id + 1;
        return AckJob{lease};
    }
    Step confirm() {
        const auto& timer = fired_[random_.below(fired_.size())];
        ConfirmTimer step{.space = "reminders", .id = timer.id};
        if (!seldom()) step.retries = timer.retries;
        if (!seldom()) step.firing = timer.firing;
        return step;
    }

    Random random_;
    std::uint64_t published_ = 0;
    std::vector<Lease> leases_;
    std::vector<FiredTimer> fired_;
};

void walk(std::uint64_t seed, bool mixed_fleet) {
    RedisScene joint{mixed_fleet};
    RedisScene single{mixed_fleet};
    const std::array scenes{&joint, &single};
    std::vector<Watch> watches;
    for (auto* scene : scenes) {
        subscribe_all(*scene);
        watches.push_back(scene->store.watch(timer_watch("reminders", "ear"), [] {}));
    }
    RandomGroups groups{seed};
    const auto before = calls(joint) - calls(single);
    std::size_t steps = 0;
    for (int round = 0; round < 300; ++round) {
        for (auto* scene : scenes) scene->now += Duration{7};
        const auto group = groups.next(joint.now);
        const auto all = together(joint, group);
        const auto each = one_by_one(single, group);
        for (std::size_t i = 0; i < group.size(); ++i) {
            CAPTURE(round);
            CAPTURE(i);
            CAPTURE(group[i].index());
            REQUIRE(all[i].has_value() == each[i].has_value());
            if (all[i]) {
                REQUIRE(*all[i] == *each[i]);
            } else {
                REQUIRE(all[i].error() == each[i].error());
            }
        }
        steps += group.size();
        for (auto* scene : scenes) {
            const auto leases =
                scene->perform(AcquireJobs{.queue = "work", .worker = scene->worker, .limit = 40});
            const auto timers = scene->perform(TakeTimers{.space = "reminders",
                                                          .listener = "ear",
                                                          .limit = 40,
                                                          .confirm_within = Duration{100}});
            if (scene != &joint) continue;
            groups.got(leases.leases);
            groups.got(timers.timers);
        }
        // Reading all keys takes longer than the round, so most rounds skip it.
        if (round % 10 != 9) continue;
        REQUIRE_MESSAGE(joint.keys() == single.keys(),
                        test::keys_of(joint.server).differences(test::keys_of(single.server)));
    }
    const auto saved = before + calls(single) - calls(joint);
    CHECK(steps > 3'000);
    CHECK(saved > static_cast<std::int64_t>(steps) / 2);
}

}  // namespace

TEST_CASE("redis: recorded due times that do not match the READY jobs are dropped") {
    RedisScene s;
    const std::vector<Step> pushes{PushJob{"work", "a", s.now}, PushJob{"work", "b", s.now}};
    SUBCASE("no job was READY, and the record begins anew") {
        s.other({"LPUSH", "routemaster:due:work", "1"});
        together(s, pushes);
        CHECK(s.other({"LLEN", "routemaster:due:work"}).number == 2);
    }
    SUBCASE("an older version that does not record due times has pushed a job") {
        s.other({"LPUSH", "jobs:instant:work", "older"});
        together(s, pushes);
        CHECK(s.other({"EXISTS", "routemaster:due:work"}).number == 0);
    }
    CHECK(calls(s) == 1);
}

TEST_CASE("redis: steps sent in one call have the effects of steps sent alone") {
    const auto seed = test::seed(1);
    ROUTEMASTER_TELL_SEED(seed);
    walk(seed, false);
}

TEST_CASE(
    "redis: in a mixed deployment, steps sent in one call have the effects of steps sent alone") {
    const auto seed = test::seed(2);
    ROUTEMASTER_TELL_SEED(seed);
    walk(seed, true);
}

TEST_CASE("redis: an error of one of the steps sent in one call affects only this step") {
    RedisScene s;
    s.perform(PushJob{"work", "plain", s.now});
    PushJob keyed{"work", "keyed", s.now};
    keyed.options.key.text = "key";
    s.perform(keyed);
    s.perform(PushJob{"work", "another", s.now});
    const auto leases =
        s.perform(AcquireJobs{.queue = "work", .worker = s.worker, .limit = 3}).leases;
    REQUIRE(leases.size() == 3);
    s.other({"DEL", "routemaster:keys:work"});
    s.other({"SET", "routemaster:keys:work", "spoilt"});
    const auto outcomes = together(s, {AckJob{leases[0]}, AckJob{leases[1]}, AckJob{leases[2]}});
    CHECK(std::get<Settlement>(*outcomes[0]) == Settlement::settled);
    REQUIRE(!outcomes[1]);
    CHECK(outcomes[1].error().code() == Errc::corrupted);
    CHECK(std::get<Settlement>(*outcomes[2]) == Settlement::settled);
}

TEST_CASE("redis: leases settled in one call settle no job that differs by its id alone") {
    RedisScene s;
    PushJob step{"work", "same", s.now};
    s.perform(step);
    step.options.key.text = "key";
    s.perform(step);
    const auto leases =
        s.perform(AcquireJobs{.queue = "work", .worker = s.worker, .limit = 2}).leases;
    REQUIRE(leases.size() == 2);
    auto mixed = leases;
    std::swap(mixed[0].id, mixed[1].id);
    for (const auto& outcome : together(s, {AckJob{mixed[0]}, AckJob{mixed[1]}})) {
        CHECK(std::get<Settlement>(*outcome) == Settlement::lease_lost);
    }
    CHECK(s.perform(CountJobs{"work"}) == QueueStatus{.pending = 2});
    for (const auto& outcome : together(s, {AckJob{leases[0]}, AckJob{leases[1]}})) {
        CHECK(std::get<Settlement>(*outcome) == Settlement::settled);
    }
}

TEST_CASE("redis: steps sent in one call that meet a key of the wrong type change nothing") {
    RedisScene s;
    s.other({"SET", "routemaster:ids:work", "spoilt"});
    const auto before = s.keys();
    const auto outcomes =
        together(s, {PushJob{"work", "one", s.now}, PushJob{"work", "two", s.now}});
    for (const auto& outcome : outcomes) {
        REQUIRE(!outcome);
        CHECK(outcome.error().code() == Errc::corrupted);
        CHECK(outcome.error().context().find("routemaster:ids:work") != std::string::npos);
    }
    CHECK(s.keys() == before);
}
