// A key that holds something else than it should: the step that meets it is refused, and what the
// step would have moved is still where it was.

#include <doctest/doctest.h>

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "redis_scene.hpp"
#include "support/redis_keys.hpp"

using namespace routemaster;

namespace {

/// A bus with something in every key that a step may meet.
struct Busy : test::RedisScene {
    explicit Busy(bool mixed_fleet = false) : RedisScene{mixed_fleet}, mixed{mixed_fleet} {}

    const bool mixed;
    std::vector<Lease> deliveries;  // The first of them has begun.
    std::vector<Lease> work;

    void prepare() {
        other({"FLUSHALL"});
        for (const char* token : {"audit", "billing"}) {
            perform(Subscribe{.token = token,
                              .topics = {"cats"},
                              .options = {.callback = "https://example.com/events",
                                          .timeout = Duration{0},
                                          .attempts_max = 1,
                                          .dead_max = 1}});
        }
        publish("BATCHBATCHBATCHBZZAA");
        for (const auto& lease : acquire_all()) {
            begin(lease);
            settle(lease, false);
        }
        for (const char* token : {"audit", "billing"}) {
            perform(Subscribe{.token = token,
                              .topics = {"cats", "dogs"},
                              .options = {.callback = "https://example.com/events",
                                          .timeout = Duration{500},
                                          .max_events = 2,
                                          .max_in_flight = 2,
                                          .attempts_max = 1'000}});
        }
        perform(PutToken{"billing", "shop"});
        perform(PutToken{"pub--secret", "pub"});
        for (const char* uid : {"A", "B", "C", "D", "E", "F", "G"}) {
            publish("BATCHBATCHBATCHB" + std::string{uid} + "AAA");
        }
        for (const char* job : {"a", "b", "c"}) perform(PushJob{"work", job, now});
        perform(PushJob{"work", "later", now + Duration{60'000}});
        if (!mixed) perform(PushJob{"main", "now", now});
        deliveries = perform(AcquireJobs{.queue = "main", .worker = worker, .limit = 3}).leases;
        work = perform(AcquireJobs{.queue = "work", .worker = worker, .limit = 2}).leases;
        begin(deliveries.at(0));
    }

    /// Exchanges a key for one of another type that has the same name.
    void exchange(const std::string& key) {
        const bool is_text = other({"TYPE", key}).text == "string";
        other({"DEL", key});
        if (is_text) {
            other({"LPUSH", key, "x"});
        } else {
            other({"SET", key, "x"});
        }
    }

    /// Makes all that a hash or text tells something that is no number.
    void garble(const std::string& key) {
        const auto type = other({"TYPE", key}).text;
        if (type == "string") other({"SET", key, "x"});
        if (type != "hash") return;
        for (const auto& field : other({"HKEYS", key}).list) {
            // The text of a lease is looked at whole, and the names of things are any text.
            if (key.starts_with("routemaster:leases:") && field.text != "newest") continue;
            other({"HSET", key, field.text, "x"});
        }
    }

    [[nodiscard]] std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& key : other({"KEYS", "*"}).list) all.push_back(key.text);
        return all;
    }
};

/// A kind of step, made once the bus is prepared.
struct Kind {
    const char* name;
    std::function<Step(const Busy&)> make;
    bool only_adds = false;  ///< What it put somewhere before it failed may stay there.
    Duration later{0};       ///< How long after the bus was prepared.
};

std::vector<Kind> kinds() {
    const auto settle = [](bool delivered, bool permanent = false) {
        return [delivered, permanent](const Busy& s) -> Step {
            return SettleDelivery{.lease = s.deliveries.at(0),
                                  .delivered = delivered,
                                  .begun_at = s.now,
                                  .retry_at = s.now + Duration{100},
                                  .permanent = permanent};
        };
    };
    return {
        {"PublishEvent",
         [](const Busy& s) -> Step {
             return PublishEvent{.topic = "cats",
                                 .publisher = "pub--secret",
                                 .message = s.message(),
                                 .timestamp = s.now,
                                 .uid = *Uid::parse("BATCHBATCHBATCHBZAAA")};
         },
         true},
        {"PublishEvent, authenticated",
         [](const Busy& s) -> Step {
             return PublishEvent{.topic = "cats",
                                 .publisher = "pub--secret",
                                 .message = s.message(),
                                 .timestamp = s.now,
                                 .uid = *Uid::parse("BATCHBATCHBATCHBZAAA"),
                                 .authenticate = true};
         },
         true},
        {"RemoveTopic",
         [](const Busy&) -> Step {
             return RemoveTopic{"cats", std::nullopt};
         }},
        {"Subscribe",
         [](const Busy&) -> Step {
             return Subscribe{.token = "billing",
                              .topics = {"dogs", "fish"},
                              .options = {.callback = "https://example.com/", .max_in_flight = 1}};
         }},
        {"Unsubscribe",
         [](const Busy&) -> Step {
             return Unsubscribe{"billing", "cats"};
         }},
        {"RemoveSubscriber", [](const Busy&) -> Step { return RemoveSubscriber{"billing"}; }},
        {"RemoveToken", [](const Busy&) -> Step { return RemoveToken{"billing"}; }},
        {"PushJob",
         [](const Busy& s) -> Step {
             return PushJob{"work", "new", s.now};
         }},
        {"PushJob, later",
         [](const Busy& s) -> Step {
             return PushJob{"work", "new", s.now + Duration{9}};
         }},
        {"AcquireJobs",
         [](const Busy& s) -> Step {
             return AcquireJobs{.queue = "main", .worker = s.worker, .limit = 100};
         },
         false, Duration{10'000}},
        {"AckJob", [](const Busy& s) -> Step { return AckJob{s.work.at(0)}; }},
        {"NackJob",
         [](const Busy& s) -> Step {
             return NackJob{s.work.at(0), s.now};
         }},
        {"RetireWorker", [](const Busy& s) -> Step { return RetireWorker{s.worker}; }},
        {"ScrubWorkers", [](const Busy&) -> Step { return ScrubWorkers{Duration{0}}; }},
        {"BeginDelivery",
         [](const Busy& s) -> Step {
             return BeginDelivery{s.deliveries.at(1), Duration{60'000}, 0};
         }},
        {"SettleDelivery, delivered", settle(true)},
        {"SettleDelivery, failed", settle(false)},
        {"SettleDelivery, failed for good", settle(false, true)},
        {"RedeliverDeadBatches",
         [](const Busy&) -> Step { return RedeliverDeadBatches{"billing"}; }},
        {"DropDeadBatches", [](const Busy&) -> Step { return DropDeadBatches{"billing"}; }},
        {"DropOldestBatches", [](const Busy&) -> Step { return DropOldestBatches{.limit = 4}; }},
    };
}

/// The entries of `before` that `after` has not, numbers apart.
std::string missing(const std::string& before, const std::string& after) {
    std::istringstream lines{before};
    std::string all;
    for (std::string line; std::getline(lines, line);) {
        const bool number = line.find(" = ") != std::string::npos;
        if (!number && after.find(line + '\n') == std::string::npos) all += line + '\n';
    }
    return all;
}

/// Performs a step on a bus with one wrong key; whether it was refused.
bool refused(Busy& s, const Kind& kind, const std::string& key) {
    const auto before = s.keys();
    auto step = kind.make(s);
    const auto outcome = std::move(perform_all(s.store, {&step, 1}, s.now + kind.later).at(0));
    // A publisher that became another text is another publisher.
    if (outcome || outcome.error().code() == Errc::forbidden) return false;
    CAPTURE(kind.name);
    CAPTURE(key);
    CAPTURE(outcome.error().message());
    CHECK(outcome.error().code() == Errc::corrupted);
    if (kind.only_adds) {
        CHECK(missing(before, s.keys()) == "");
    } else {
        CHECK(s.keys() == before);
    }
    return true;
}

}  // namespace

TEST_CASE("redis: a step that meets a key of another type changes nothing") {
    bool mixed = false;
    SUBCASE("ours alone") {}
    SUBCASE("in a mixed fleet") { mixed = true; }
    Busy scene{mixed};
    scene.prepare();
    const auto names = scene.names();
    REQUIRE(names.size() > 30);
    for (const auto& kind : kinds()) {
        int refusals = 0;
        for (const auto& key : names) {
            scene.prepare();
            scene.exchange(key);
            refusals += refused(scene, kind, key) ? 1 : 0;
        }
        CAPTURE(kind.name);
        CHECK(refusals > 0);
    }
}

TEST_CASE("redis: a step that meets text where numbers should be changes nothing, or copes") {
    Busy scene;
    scene.prepare();
    const auto names = scene.names();
    for (const auto& kind : kinds()) {
        for (const auto& key : names) {
            scene.prepare();
            scene.garble(key);
            refused(scene, kind, key);
        }
    }
}
