/// @file
/// Commits that exceed SQLite's memory: SQLite writes some pages early, reads them again, and
/// overwrites them.

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "disk.hpp"
#include "file_scene.hpp"
#include "routemaster/store/embedded_file.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A job of some megabytes. All its pages differ.
std::string large_job(int number, std::size_t bytes) {
    std::string job;
    for (int line = 0; job.size() < bytes; ++line) {
        job += std::to_string(number) + " " + std::to_string(line) + "\n";
    }
    return job;
}

/// Pushes large jobs and completes some of them, at random, and knows the remaining jobs.
class LargeJobs {
public:
    LargeJobs(FileScene& scene, unsigned seed) : scene_{scene}, random_{seed} {}

    void push() {
        std::vector<Step> steps;
        for (int n = below(3); n >= 0; --n) {
            auto job = large_job(pushed_++, 500'000U + static_cast<std::size_t>(below(5'000'000)));
            steps.emplace_back(scene_.job(job));
            jobs_.insert(std::move(job));
        }
        for (auto& outcome : perform_all(*scene_.store, steps, scene_.now)) {
            REQUIRE(reply_of<PushJob>(outcome).value() == PushOutcome::pushed);
        }
    }

    void work_off(std::size_t left) {
        if (jobs_.size() <= left) return;
        const auto count = static_cast<std::uint32_t>(jobs_.size() - left);
        std::vector<Step> steps;
        for (auto& lease : scene_.must(AcquireJobs{"work", scene_.worker, count}).leases) {
            REQUIRE(jobs_.erase(lease.job) == 1);
            steps.emplace_back(AckJob{std::move(lease)});
        }
        for (auto& outcome : perform_all(*scene_.store, steps, scene_.now)) {
            REQUIRE(reply_of<AckJob>(outcome).value() == Settlement::settled);
        }
    }

    /// Checks a store that was opened on a copy.
    void check(FileScene& copy) const {
        auto left = jobs_;
        const auto all = static_cast<std::uint32_t>(left.size());
        // There are more jobs than one acquisition leases.
        while (!left.empty()) {
            const auto leases = copy.must(AcquireJobs{"work", copy.worker, all}).leases;
            REQUIRE(!leases.empty());
            for (const auto& lease : leases) CHECK(left.erase(lease.job) == 1);
        }
    }

    int below(int bound) { return std::uniform_int_distribution{0, bound - 1}(random_); }

private:
    FileScene& scene_;
    std::minstd_rand random_;
    std::set<std::string> jobs_;
    int pushed_ = 0;
};

}  // namespace

TEST_CASE("commits larger than SQLite's page cache are complete, even after a power loss") {
    Disk disk;
    FileScene scene{{.slack_max = 1U << 20U, .memory_max = 1U << 20U}};
    LargeJobs jobs{scene, 7};
    for (int round = 0; round < 12; ++round) {
        for (int n = 0; n < 3; ++n) jobs.push();
        jobs.work_off(static_cast<std::size_t>(jobs.below(20)));
        if (round % 6 != 5) continue;
        const auto copy = scene.folder.path() / "copy";
        disk.copy_synced(scene.file, copy);
        CHECK(check_embedded_file(copy).value().damage.empty());
        FileScene left;
        left.open_at(copy);
        jobs.check(left);
    }
}
