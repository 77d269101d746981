#include "routemaster/job_queues.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/pool_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("the queues of a store are listed, with their jobs and how long the jobs have waited") {
    JobScene scene;
    const JobQueues queues{scene.store, scene.clock};
    CHECK(queues.list().value().empty());
    scene.push("a");
    const auto since = scene.clock.now();
    scene.clock.advance(Duration{5});
    scene.push("b", {.delay = Duration{1}});
    JobQueue other{scene.memory, "other", scene.clock};
    other.pause().value();
    const ListedQueue work{"work", {.scheduled = 1, .ready = 1}, since};
    const ListedQueue paused{"other", {.paused = true}, {}};
    CHECK(queues.list().value() == std::vector<ListedQueue>{paused, work});
    CHECK(queues.list({.after = "other", .limit = 1}).value() == std::vector<ListedQueue>{work});
    CHECK(queues.list({.after = {}, .limit = 0}).error().code() == Errc::invalid);
    std::vector<ListedQueue> listed;
    queues.list({}, [&](const auto& all) { listed = all.value(); });
    CHECK(listed == std::vector<ListedQueue>{paused, work});
}

TEST_CASE("listing the queues is repeated when the reply is lost") {
    JobScene scene;
    scene.push("a");
    scene.store.lose_replies<ListQueues>(1);
    CHECK(JobQueues{scene.store, scene.clock}.list().value().size() == 1);
}

TEST_CASE("a queue is found among queues whose names begin alike") {
    JobScene scene;
    const JobQueues queues{scene.store, scene.clock};
    const std::string longest(name_length_max, 'z');
    const auto names = {std::string{"a"}, std::string{"aa"}, "a" + longest.substr(1),
                        std::string{"b"}, longest};
    for (const auto& name : names) {
        CHECK(queues.find(name).value() == ListedQueue{.name = name});
    }
    for (const auto& name : names) {
        JobQueue{scene.store, name, scene.clock}.push(Job{"x"}).value();
    }
    for (const auto& name : names) {
        CHECK(queues.find(name).value() == ListedQueue{name, {.ready = 1}, scene.clock.now()});
    }
    CHECK(queues.find("aaa").value() == ListedQueue{.name = "aaa"});
    CHECK(queues.find("a b").error().context().starts_with("queue:"));
    std::optional<ListedQueue> found;
    queues.find("b", [&](const auto& queue) { found = queue.value(); });
    CHECK(found == queues.find("b").value());
}
