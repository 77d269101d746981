// Profiles of workers that another program wrote, or that are damaged.

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/value.hpp"
#include "routemaster/worker_profile.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

/// A worker of the queue `images`, whose profile another program replaces.
struct ProfileScene : RedisScene {
    ProfileScene() {
        WorkerProfile profile{.name = "thumbs:7", .queues = {"images"}, .capacity = 1};
        profile.list_handlers({"resize"});
        perform(Heartbeat{.worker = worker,
                          .profile = std::make_shared<const WorkerProfile>(std::move(profile))});
        job = perform(PushJob{"images", encode_job({"crop", {}}), now}).id;
    }

    void write(const std::string& profile) {
        other({"HSET", "routemaster:worker:" + std::string{worker.text()}, "profile", profile});
    }
    void write(Value::Map profile) { write(encode(Value{std::move(profile)})); }

    std::optional<WorkerProfile> listed() { return perform(ListWorkers{}).at(0).profile; }
    QueueWorkers serving() { return *perform(ExplainJob{"images", job})->workers; }

    JobId job = 0;
};

}  // namespace

TEST_CASE("redis: long names in a worker profile are cut at their limits") {
    ProfileScene scene;
    Value::Array names(10'000, Value{"resize"});
    names.front() = std::string(profile_name_bytes_max + 1, 'x');
    const std::string huge(1U << 20U, 'x');
    scene.write({{"name", huge},
                 {"host", huge},
                 {"queues", names},
                 {"handlers", names},
                 {"others", 0},
                 {"silence", 3'500}});
    const auto profile = scene.listed();
    REQUIRE(profile);
    CHECK(profile->check());
    CHECK(profile->name.size() == profile_name_bytes_max);
    CHECK(profile->handlers == std::vector<std::string>(profile_names_max, "resize"));
    CHECK(profile->handlers_total == 10'000);
    // The handlers that the list leaves out may be there.
    CHECK(scene.serving().handling == 1);
}

TEST_CASE("redis: large numbers in a worker profile are cut at their limits") {
    ProfileScene scene;
    const auto number = [](std::int64_t value) { return Value{value}; };
    for (const auto value : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
        CAPTURE(value);
        scene.write({{"process", number(value)},
                     {"since", number(value)},
                     {"handlers_total", number(value)},
                     {"others", number(value)},
                     {"capacity", number(value)},
                     {"silence", number(value)}});
        const auto profile = scene.listed();
        REQUIRE(profile);
        const bool low = value < 0;
        CHECK(profile->process == (low ? 0U : 9'007'199'254'740'991U));
        CHECK(profile->since == (low ? TimePoint{} : never));
        CHECK(profile->handlers_total == (low ? 0U : 2'147'483'647U));
        CHECK(profile->others ==
              (low ? WorkerProfile::Others::refused : WorkerProfile::Others::unknown));
        CHECK(profile->capacity == (low ? 0U : 2'147'483'647U));
        CHECK(profile->silence == Duration{low ? 0 : 2 * 86'400'000});
    }
}

TEST_CASE("redis: an unreadable worker profile is ignored") {
    ProfileScene scene;
    CHECK(scene.serving().handling == 0);
    for (const auto& profile : {std::string{}, std::string{"\xc1"}, encode(Value{"text"})}) {
        scene.write(profile);
        CHECK_FALSE(scene.listed());
        // The worker may have any handler.
        CHECK(scene.serving().handling == 1);
    }
}
