/// @file
/// The limits on the number of queues, namespaces and further named objects.

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/value.hpp"
#include "support/machine_store.hpp"

namespace routemaster::test {
namespace {

constexpr TimePoint now{Duration{1'700'000'000'000}};

/// A state with limits: two queues besides the delivery queue, and one namespace of timers.
struct Scene {
    template <class S>
    Result<typename S::Reply> perform(S step) {
        return routemaster::perform(store, std::move(step), now);
    }

    static PushJob push(const std::string& queue, const std::string& job) {
        return {queue, job, now};
    }
    static PostTimer timer(const std::string& space) {
        return {.space = space, .id = "a", .payload = "\xc0", .due_at = now};
    }

    Lease lease(const std::string& queue) {
        return perform(AcquireJobs{.queue = queue, .worker = worker, .limit = 1})
            .value()
            .leases.at(0);
    }

    MachineStore store{{.queues_max = 2, .timer_namespaces_max = 1}};
    Uid worker = UidSource{1, 2}.next();
};

void check_refused(const Error& error, const std::string& text) {
    CHECK(error.code() == Errc::limit_exceeded);
    CHECK(error.context() == text);
}

const std::string no_queue = "queue: there are 2 queues already, as many as queues_max allows";
const std::string no_namespace =
    "namespace: there are 1 namespaces of timers already, as many as timer_namespaces_max allows";

}  // namespace

TEST_CASE("the number of queues is limited, and a queue without jobs makes room for another") {
    Scene scene;
    REQUIRE(scene.perform(Scene::push("a", "1")));
    REQUIRE(scene.perform(PauseQueue{"b", true}));
    check_refused(scene.perform(Scene::push("c", "1")).error(), no_queue);
    auto keyed = Scene::push("c", "1");
    keyed.options.key.text = "k";
    check_refused(scene.perform(keyed).error(), no_queue);
    check_refused(scene.perform(PauseQueue{"c", true}).error(), no_queue);
    check_refused(scene.perform(LimitQueue{"c", {.queue = RateLimit{.jobs = 1}}}).error(),
                  no_queue);
    CHECK(scene.perform(PauseQueue{"c", false}));
    CHECK(scene.perform(Scene::push("a", "2")));
    CHECK(scene.perform(Scene::push("b", "1")));
    CHECK(scene.perform(Scene::push("main", "1")));
    for (int n = 0; n < 2; ++n) REQUIRE(scene.perform(AckJob{scene.lease("a")}));
    CHECK(scene.perform(Scene::push("c", "1")));
    check_refused(scene.perform(Scene::push("a", "1")).error(), no_queue);
}

TEST_CASE(
    "the follow-up jobs of one job are refused together if they exceed the number of queues") {
    Scene scene;
    REQUIRE(scene.perform(Scene::push("a", "1")));
    const auto lease = scene.lease("a");
    CompleteJob complete{.lease = lease, .pushes = {Scene::push("b", "1"), Scene::push("c", "1")}};
    check_refused(scene.perform(complete).error(), "pushes[1]: " + no_queue);
    CHECK(scene.perform(CountJobs{"a"}).value().pending == 1);
    CHECK(scene.perform(CountJobs{"b"}).value().ready == 0);
    complete.pushes = {Scene::push("b", "1"), Scene::push("b", "2")};
    complete.timers = {Scene::timer("x"), Scene::timer("y")};
    check_refused(scene.perform(complete).error(), "timers[1]: " + no_namespace);
    CHECK(scene.perform(CountJobs{"b"}).value().ready == 0);
    complete.timers.pop_back();
    CHECK(scene.perform(complete));
    CHECK(scene.perform(CountJobs{"b"}).value().ready == 2);
}

TEST_CASE(
    "the number of timer namespaces is limited, and an empty namespace makes room for another") {
    Scene scene;
    REQUIRE(scene.perform(Scene::timer("x")));
    check_refused(scene.perform(Scene::timer("y")).error(), no_namespace);
    CHECK(scene.perform(Scene::timer("x")));
    REQUIRE(scene.perform(CancelTimer{"x", "a"}));
    CHECK(scene.perform(Scene::timer("y")));
}

TEST_CASE("the namespace of actions does not count towards the limit of timer namespaces") {
    Scene scene;
    auto action = Scene::timer(std::string{action_space});
    action.retries_max = 1;
    action.payload =
        encode(Value{Value::Map{{"push", Value{Value::Map{{"queue", "a"}, {"name", "resize"}}}}}});
    CHECK(scene.perform(action));
    REQUIRE(scene.perform(Scene::timer("x")));
    action.id = "b";
    CHECK(scene.perform(action));
    check_refused(scene.perform(Scene::timer("y")).error(), no_namespace);
    REQUIRE(scene.perform(Scene::push("a", "1")));
    CompleteJob complete{.lease = scene.lease("a"),
                         .timers = {Scene::timer("x"), action, Scene::timer("y")}};
    check_refused(scene.perform(complete).error(), "timers[2]: " + no_namespace);
    complete.timers.pop_back();
    CHECK(scene.perform(complete));
}

}  // namespace routemaster::test
