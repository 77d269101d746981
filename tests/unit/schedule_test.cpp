#include "core/state/schedule.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/jobs/state/job_table.hpp"
#include "routemaster/random.hpp"
#include "support/lone_job.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

/// A schedule, and an ordered map with the same contents.
struct ScheduleScene {
    using Key = std::pair<TimePoint, std::uint64_t>;

    JobState& make(std::int64_t run_at) {
        const auto order = states.size();
        states.push_back(
            std::make_unique<test::LoneJob>(queue, "job", 0, from_milliseconds(run_at), order));
        auto& job = *states.back();
        expected[Key{job.run_at, order}] = &job;
        return job;
    }
    void insert(std::int64_t run_at) { schedule.insert(make(run_at)); }
    void remove(JobState& job) {
        schedule.remove(job);
        expected.erase(Key{job.run_at, job.order});
    }
    /// A random job of the schedule.
    [[nodiscard]] JobState& any(Random& random) const {
        auto place = expected.begin();
        std::advance(place, static_cast<std::ptrdiff_t>(random.below(expected.size())));
        return *place->second;
    }
    void check() const {
        REQUIRE(schedule.size() == expected.size());
        if (!expected.empty()) REQUIRE(&schedule.first() == expected.begin()->second);
        for (const int now : {-1, 0, 10, 25, 100}) {
            const auto due = from_milliseconds(now);
            const auto after = expected.upper_bound(Key{due, UINT64_MAX});
            REQUIRE(schedule.count_due(due) ==
                    static_cast<std::size_t>(std::distance(expected.begin(), after)));
        }
    }

    SmallBlocks memory;
    QueueState queue{"q", memory};
    std::vector<std::unique_ptr<test::LoneJob>> states;
    std::map<Key, JobState*> expected;
    Schedule schedule;
};

std::int64_t any_time(Random& random) { return static_cast<std::int64_t>(random.below(50)); }

/// The processor time for repeatedly counting `jobs` due jobs, half of them restored.
std::clock_t time_to_count(std::size_t jobs) {
    ScheduleScene scene;
    std::vector<JobState*> restored;
    for (std::size_t n = 0; n < jobs / 2; ++n) {
        restored.push_back(&scene.make(static_cast<std::int64_t>(n)));
    }
    scene.schedule.restore(std::move(restored));
    for (std::size_t n = jobs / 2; n < jobs; ++n) {
        scene.schedule.insert(scene.make(static_cast<std::int64_t>(n)));
    }
    const auto begun = std::clock();
    for (int n = 0; n < 10'000; ++n) {
        REQUIRE(scene.schedule.count_due(from_milliseconds(static_cast<std::int64_t>(jobs))) ==
                jobs);
    }
    return std::clock() - begun;
}

}  // namespace

TEST_CASE("a schedule returns the first due job after any insertions and removals") {
    const auto number = test::seed(11);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    for (int round = 0; round < 20; ++round) {
        ScheduleScene scene;
        // Every second round begins with restored jobs.
        std::vector<JobState*> restored;
        for (std::uint64_t n = round % 2 == 0 ? 0 : random.below(round % 4 == 1 ? 40 : 2'000);
             n > 0; --n) {
            restored.push_back(&scene.make(any_time(random)));
        }
        scene.schedule.restore(std::move(restored));
        for (int step = 0; step < 200; ++step) {
            scene.check();
            switch (scene.expected.empty() ? 0 : random.below(3)) {
                case 0: scene.insert(any_time(random)); break;
                case 1: scene.remove(scene.schedule.first()); break;
                default: scene.remove(scene.any(random)); break;
            }
        }
        while (!scene.schedule.empty()) scene.remove(scene.schedule.first());
        scene.check();
    }
}

TEST_CASE("counting due jobs does not visit every due job") {
    // Counting each due job separately would take a hundred times as long for a hundred times as
    // many.
    CHECK(time_to_count(200'000) < 20 * time_to_count(2'000));
}
