/// @file
/// The embedded store restores its state from its file.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "support/random_steps.hpp"
#include "support/seed.hpp"
#include "support/store_report.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

const TimePoint epoch = from_milliseconds(1'800'000'000'000);

bool same(Outcome& a, Outcome& b) {
    if (a.has_value() != b.has_value()) return false;
    return a ? *a == *b : a.error() == b.error();
}

}  // namespace

TEST_CASE("random steps have equal results in memory and in a file, also after a restart") {
    const auto first = seed(1);
    for (std::uint64_t number = first; number < first + 16; ++number) {
        ROUTEMASTER_TELL_SEED(number);
        const TemporaryFolder folder;
        const auto file = folder.path() / "bus.db";
        const bool compacted = number % 2 == 0;
        const bool in_order = number % 3 != 0;
        // Most steps are relaxed, which makes the test quick. The rows are the same.
        const EmbeddedStoreOptions options{
            .durability = number % 4 == 0 ? Durability::strict : Durability::relaxed,
            .slack_max = compacted ? 2'000U : 1'000'000U};
        RandomSteps steps{number, in_order ? 1U : 5U};
        MemoryStore memory;
        auto now = epoch;
        testing::Snapshot before;
        {
            EmbeddedStore embedded{file, options};
            for (int i = 0; i < 500; ++i) {
                now += steps.pause();
                auto step = steps.next(now);
                auto twin = step;
                auto expected = perform_all(memory, {&step, 1}, now);
                auto got = perform_all(embedded, {&twin, 1}, now);
                REQUIRE(same(got.front(), expected.front()));
                const auto* acquired = got.front() ? std::get_if<Acquired>(&*got.front()) : nullptr;
                if (acquired != nullptr) steps.got(acquired->leases);
                const auto* dead = got.front()
                                       ? std::get_if<std::vector<DeadBatchStatus>>(&*got.front())
                                       : nullptr;
                if (dead != nullptr) steps.got(*dead);
                const auto* queued =
                    got.front() ? std::get_if<std::vector<QueuedBatch>>(&*got.front()) : nullptr;
                if (queued != nullptr) steps.got(*queued);
                const auto* created =
                    got.front() ? std::get_if<JobBatchCreated>(&*got.front()) : nullptr;
                if (created != nullptr) steps.got(*created);
            }
            for (const auto& worker : RandomSteps::workers()) {
                CHECK(perform(embedded, RetireWorker{worker}, now).value() ==
                      perform(memory, RetireWorker{worker}, now).value());
            }
            before = report_of(embedded, RandomSteps::tokens, now);
            REQUIRE(before == report_of(memory, RandomSteps::tokens, now));
        }
        EmbeddedStore embedded{file, options};
        REQUIRE(report_of(embedded, RandomSteps::tokens, now) == before);
        check_gauges(embedded, now);
        // So late that no batch is delayed or throttled any more.
        const auto later = now + Duration{1'000'000};
        auto after = deliver_all(embedded, later);
        auto expected = deliver_all(memory, later);
        if (!in_order) {
            // After a restart, jobs of a group with a concurrency above one may begin in a
            // different order.
            for (auto* arrivals : {&after, &expected}) {
                for (auto& [token, messages] : *arrivals)
                    std::sort(messages.begin(), messages.end());
            }
        }
        CHECK(after == expected);
    }
}

TEST_CASE("the space of deleted data in the file is used again") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "bus.db";
    const Uid worker{1, 1};
    std::uintmax_t size_early = 0;
    {
        EmbeddedStore store{file, {.slack_max = 20'000}};
        // Long-lived data must be moved while other data comes and goes. Otherwise the head could
        // never be freed.
        perform(store, Subscribe{"audit", {"cats"}, {.callback = "https://example.com/"}}, epoch)
            .value();
        perform(store, PushJob{"later", "stays", epoch + Duration{1'000'000}}, epoch).value();
        for (int i = 0; i < 1'500; ++i) {
            Step push = PushJob{"work", "job " + std::to_string(i), epoch};
            store.submit({&push, 1}, epoch, [](std::span<Outcome>) {});
            const auto got = perform(store, AcquireJobs{"work", worker, 1}, epoch).value();
            REQUIRE(got.leases.size() == 1);
            REQUIRE(perform(store, AckJob{got.leases.front()}, epoch).value() ==
                    Settlement::settled);
            if (i == 500) size_early = std::filesystem::file_size(file);
        }
    }
    CHECK(query(file, "SELECT min(row) FROM journal") > 1);
    CHECK(query(file, "SELECT sum(length(effects)) FROM journal") < 50'000);
    CHECK(std::filesystem::file_size(file) < size_early + 100'000);
    EmbeddedStore store{file};
    CHECK(perform(store, CountJobs{"later"}, epoch).value().scheduled == 1);
    CHECK(perform(store, FindSubscriber{"audit"}, epoch).value().has_value());
    CHECK(perform(store, CountJobs{"work"}, epoch).value() == QueueStatus{});
}

TEST_CASE("jobs that were PENDING are READY after a restart, in the order they were pushed") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "bus.db";
    {
        EmbeddedStore store{file};
        for (const char* job : {"one", "two", "three"}) {
            perform(store, PushJob{"work", job, epoch}, epoch).value();
        }
        CHECK(perform(store, AcquireJobs{"work", {1, 1}, 2}, epoch).value().leases.size() == 2);
    }
    EmbeddedStore store{file};
    CHECK(perform(store, CountJobs{"work"}, epoch).value() == QueueStatus{0, 3, 0});
    const auto got = perform(store, AcquireJobs{"work", {1, 1}, 5}, epoch).value();
    REQUIRE(got.leases.size() == 3);
    CHECK(got.leases[0].job == "one");
    CHECK(got.leases[1].job == "two");
    CHECK(got.leases[2].job == "three");
}
