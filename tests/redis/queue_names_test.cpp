// The keys about queues: their names for lists, and the due times of READY jobs.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "redis_scene.hpp"

using namespace routemaster;
using test::RedisScene;

namespace {

struct Queues : RedisScene {
    [[nodiscard]] bool is_named(const std::string& queue) {
        return other({"SISMEMBER", "routemaster:queues", queue}).number == 1;
    }
    std::optional<TimePoint> due_since() {
        const auto queues = perform(ListQueues{});
        REQUIRE(queues.size() == 1);
        return queues.front().due_since;
    }
    std::vector<Lease> acquire_work(std::uint32_t limit) {
        return perform(AcquireJobs{.queue = "work", .worker = worker, .limit = limit}).leases;
    }
    /// Pushes a job as a version before `routemaster:due:{q}` does.
    void push_of_before(const std::string& job) {
        other({"LPUSH", "jobs:instant:work", job});
        const auto id = other({"INCR", "routemaster:job_id"}).number;
        other({"ZADD", "routemaster:ids:work", std::to_string(id), job});
        other({"SADD", "jobs:index:work", job});
    }
    /// The number of calls of a command on the server.
    [[nodiscard]] int calls(const std::string& command) const {
        const auto line = server.info("cmdstat_" + command);  // calls=N,…
        return line.empty() ? 0 : std::atoi(line.substr(line.find('=') + 1).c_str());
    }
};

}  // namespace

TEST_CASE("redis: a queue without jobs leaves neither its name nor the keys of its jobs") {
    Queues s;
    s.perform(PushJob{"work", "a", s.now});
    s.perform(PushJob{"work", "b", s.now});
    CHECK(s.is_named("work"));
    for (const auto& lease : s.acquire_work(2)) {
        CHECK(s.is_named("work"));
        s.perform(AckJob{lease});
    }
    CHECK(!s.is_named("work"));
    CHECK(s.other({"EXISTS", "jobs:pending:index:work"}).number == 0);
    CHECK(s.other({"EXISTS", "routemaster:due:work"}).number == 0);

    s.perform(PauseQueue{"work", true});
    CHECK(s.is_named("work"));
    PushJob keyed{"work", "a", s.now};
    keyed.options.key.text = "k";
    const auto id = s.perform(keyed).id;
    s.perform(DeleteJob{"work", id});
    CHECK(s.other({"EXISTS", "routemaster:due:work"}).number == 0);
    CHECK(s.is_named("work"));
    s.perform(PauseQueue{"work", false});
    CHECK(!s.is_named("work"));
    s.perform(keyed);
    CHECK(s.is_named("work"));
}

TEST_CASE("redis: workers are not registered to be woken while their queue is paused") {
    Queues s;
    const auto waits = [&] { return s.other({"EXISTS", "routemaster:waiting:work"}).number == 1; };
    CHECK(s.acquire_work(1).empty());
    CHECK(waits());
    s.perform(PauseQueue{"work", true});
    CHECK(!waits());
    CHECK(s.acquire_work(1).empty());
    CHECK(!waits());
    s.perform(PauseQueue{"work", false});
    CHECK(s.acquire_work(1).empty());
    CHECK(waits());
}

TEST_CASE("redis: a page of many queues costs only the page, and the pages together are complete") {
    Queues s;
    constexpr int many = 300;
    std::vector<std::string> names;
    for (int i = 0; i < many; ++i) {
        names.push_back("q" + std::to_string(i));
        s.perform(PushJob{names.back(), "a", s.now});
    }
    // An earlier version left the name of a queue without jobs.
    s.other({"SADD", "routemaster:queues", "q1 is gone"});
    std::sort(names.begin(), names.end());
    const auto list = [&](std::uint32_t limit) {
        std::vector<std::string> listed;
        for (;;) {
            const auto page = s.perform(
                ListQueues{{.after = listed.empty() ? "" : listed.back(), .limit = limit}});
            for (const auto& queue : page) listed.push_back(queue.name);
            if (page.size() < limit) return listed;
        }
    };
    CHECK(list(100) == names);
    const auto repaired = s.calls("sscan");
    CHECK(repaired > 0);
    // From now on steps keep the index up to date.
    s.perform(PushJob{"new", "a", s.now});
    s.perform(PauseQueue{"paused", true});
    s.perform(DeleteJob{"q7", 8});
    names.erase(std::find(names.begin(), names.end(), "q7"));
    names.insert(names.end(), {"new", "paused"});
    std::sort(names.begin(), names.end());
    CHECK(list(7) == names);
    CHECK(s.calls("sscan") == repaired);
    const auto counted = s.calls("zcount");
    s.perform(ListQueues{{.after = "q3", .limit = 10}});
    CHECK(s.calls("zcount") == counted + 4 * 10);
}

TEST_CASE(
    "redis: the age of waiting jobs is known again after the jobs of an older version are gone") {
    Queues s;
    s.push_of_before("a");
    s.other({"SADD", "routemaster:queues", "work"});
    CHECK(!s.due_since());
    s.perform(PushJob{"work", "b", s.now});
    CHECK(!s.due_since());
    CHECK(s.acquire_work(1).at(0).job == "a");
    s.perform(PushJob{"work", "c", s.now});
    CHECK(!s.due_since());
    CHECK(s.acquire_work(2).size() == 2);
    CHECK(!s.due_since());
    s.perform(PushJob{"work", "d", s.now});
    s.now += Duration{5};
    s.perform(PushJob{"work", "e", s.now});
    CHECK(s.due_since() == s.now - Duration{5});
    // An earlier version takes a job.
    s.other({"RPOP", "jobs:instant:work"});
    CHECK(!s.due_since());
    CHECK(s.acquire_work(1).at(0).job == "e");
    s.perform(PushJob{"work", "f", s.now});
    CHECK(s.due_since() == s.now);
    CHECK(s.other({"LLEN", "routemaster:due:work"}).number == 1);
}

TEST_CASE("redis: a queue of Ruby Routemaster is listed, without the age of its waiting jobs") {
    Queues s;
    s.other({"LPUSH", "jobs:instant:aux", "a"});
    s.other({"SADD", "jobs:index:aux", "a"});
    s.other({"SADD", "routemaster:queues", "gone"});
    CHECK(s.perform(ListQueues{}) ==
          std::vector<ListedQueue>{{.name = "aux", .status = {.ready = 1}, .due_since = {}}});
    CHECK(s.perform(AcquireJobs{.queue = "aux", .worker = s.worker}).leases.size() == 1);
    CHECK(s.perform(ListQueues{}).at(0).status == QueueStatus{.pending = 1});
}

TEST_CASE("redis: a deleted job does not count towards the age of waiting jobs") {
    Queues s;
    std::vector<JobId> ids;
    for (const char* job : {"a", "b", "c", "d"}) {
        ids.push_back(s.perform(PushJob{"work", job, s.now}).id);
        s.now += Duration{1};
    }
    // The deleted job stays in the list until the first job leaves.
    s.perform(DeleteJob{"work", ids[1]});
    CHECK(s.due_since() == s.now - Duration{4});
    s.perform(DeleteJob{"work", ids[0]});
    CHECK(s.due_since() == s.now - Duration{2});
    CHECK(s.other({"LLEN", "jobs:instant:work"}).number == 2);
    CHECK(s.other({"LLEN", "routemaster:due:work"}).number == 2);
    CHECK(s.acquire_work(1).at(0).job == "c");
    CHECK(s.due_since() == s.now - Duration{1});
}
