#include "core/state/id_index.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/jobs/state/queue_state.hpp"
#include "routemaster/random.hpp"
#include "support/lone_job.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

/// The ids of up to `most` jobs after `id`.
std::vector<std::uint64_t> after(const IdIndex& index, std::uint64_t id, std::size_t most) {
    std::vector<std::uint64_t> ids;
    index.after(id, [&](const JobState& job) {
        if (ids.size() == most) return false;
        ids.push_back(job.order);
        return true;
    });
    return ids;
}

}  // namespace

TEST_CASE("an index of ids agrees with a map over random insertions and removals") {
    const auto number = test::seed(5);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    SmallBlocks memory;
    QueueState queue{std::string(20, 'q'), memory};
    std::map<std::uint64_t, std::unique_ptr<test::LoneJob>> jobs;
    IdIndex index;
    std::uint64_t last = 0;
    // The index grows to thousands of jobs, shrinks to none, and grows again.
    for (int step = 0; step < 60'000; ++step) {
        const bool grows = step / 10'000 % 2 == 0;
        if (random.below(4) < (grows ? 3U : 1U)) {
            // Most ids increase; some fall between earlier ids, as after a restart.
            const auto id = random.below(4) > 0 ? ++last : 1 + random.below(last + 1);
            auto& job = jobs[id];
            if (job != nullptr) continue;
            job = std::make_unique<test::LoneJob>(queue, "", 0, TimePoint{}, id);
            index.insert(*job);
        } else if (const auto any = jobs.lower_bound(random.below(last + 1)); any != jobs.end()) {
            index.remove(*any->second);
            jobs.erase(any);
        }
        const auto id = random.below(last + 2);
        const auto found = jobs.find(id);
        REQUIRE(index.find(id) == (found == jobs.end() ? nullptr : found->second.get()));
        REQUIRE(index.empty() == jobs.empty());
        if (step % 100 != 0) continue;
        std::vector<std::uint64_t> expected;
        for (auto next = jobs.upper_bound(id); next != jobs.end() && expected.size() < 700;
             ++next) {
            expected.push_back(next->first);
        }
        REQUIRE(after(index, id, 700) == expected);
    }
    CHECK(after(index, UINT64_MAX, 1).empty());
}
