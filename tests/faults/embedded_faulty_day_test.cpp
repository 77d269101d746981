/// @file
/// Steps of many kinds on an embedded store, while the disk fails once, at each operation in turn.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "disk.hpp"
#include "disk_health.hpp"
#include "file_scene.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "support/store_report.hpp"
#include "twin.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// The steps of the day. A store in memory performs each step that succeeded in the store under
/// test, and must end up in the same state.
class FaultyDay {
public:
    FaultyDay(Disk& disk, bool for_good) : disk_{disk}, for_good_{for_good} {
        scene_.close();
        scene_.open({.slack_max = 1'000, .log = health_.log()});
    }

    void pass() {
        for (int round = 0; round < 3; ++round) {
            perform_at_last(Subscribe{
                "billing",
                {"orders"},
                {.callback = "https://b.example/", .timeout = Duration{0}, .max_events = 2}});
            for (int n = 0; n < 3; ++n) perform_at_last(scene_.event("event"));
            perform_at_last(PutToken{"key" + std::to_string(round), "shop"});
            for (const char* job : {"a", "b", "c"}) perform_at_last(PushJob{"work", job, soon()});
            scene_.now += Duration{100};
            post_timers(round);
            acquire("work", 2);
            acquire(delivery_queue, 1);
            if (leases_.size() >= 4) settle_all(false);
            perform_at_last(RemoveTopic{"none", std::nullopt});
            perform_at_last(AddToCounters{{{{"counted", {}}, 1}}});
        }
        recover();
    }

    /// Leases that were valid when the disk failed can still be settled. Afterwards compares the
    /// store with the store in memory, before and after a restart.
    void check() {
        settle_all(true);
        const auto before = comparable(*scene_.store);
        CHECK(before == comparable(twin_.memory()));
        check_gauges(*scene_.store, scene_.now);
        scene_.close();
        scene_.open();
        CHECK(comparable(*scene_.store) == before);
    }

    /// The number of disk failures that the store noticed.
    [[nodiscard]] std::uint64_t failures() const { return health_.failures(); }

private:
    /// The snapshot without counters that depend on the number of an attempt.
    testing::Snapshot comparable(Store& store) const {
        auto report = report_of(store, {"billing"}, scene_.now);
        std::erase_if(report.counters, [](const Counter& counter) {
            return counter.key.name.starts_with("latency.batches");
        });
        return report;
    }

    /// The due time of jobs: in the future, and different for each job. Then the order of promotion
    /// is the same whether or not the state was read again meanwhile.
    [[nodiscard]] TimePoint soon() const { return scene_.now + Duration{50}; }

    /// Performs a step. If the step is refused, heals the disk and performs the step again. Each
    /// step advances the time.
    template <class S>
    typename S::Reply perform_at_last(S step) {
        scene_.now += Duration{1};
        auto reply = twin_.perform(*scene_.store, step, scene_.now);
        if (reply) return *std::move(reply);
        CHECK(reply.error().code() == Errc::unavailable);
        CHECK(reply.error().context().starts_with(scene_.file.string() + ": "));
        if (for_good_) {
            CHECK(!twin_.perform(*scene_.store, scene_.event("refused"), scene_.now));
            CHECK(perform(*scene_.store, ListTopics{}, scene_.now));
        }
        recover();
        return twin_.perform(*scene_.store, std::move(step), scene_.now).value();
    }

    void recover() {
        if (health_.failures() == recovered_) return;
        recovered_ = health_.failures();
        disk_.heal();
        health_.wait_until_healed();
        twin_.restored();
    }

    void acquire(const char* queue, std::uint32_t limit) {
        for (auto& lease : perform_at_last(AcquireJobs{queue, scene_.worker, limit}).leases) {
            leases_.push_back(std::move(lease));
        }
    }

    void settle_all(bool well) {
        for (const auto& lease : std::exchange(leases_, {})) settle(lease, well);
    }

    void settle(const Lease& lease, bool well) {
        if (lease.queue == "work") {
            const auto settled =
                well ? perform_at_last(AckJob{lease}) : perform_at_last(NackJob{lease, soon()});
            CHECK(settled == Settlement::settled);
            return;
        }
        CHECK(perform_at_last(BeginDelivery{lease, Duration{0}}).verdict == Verdict::deliver);
        CHECK(perform_at_last(SettleDelivery{.lease = lease,
                                             .delivered = well,
                                             .health_change = well ? 1 : -2,
                                             .begun_at = scene_.now,
                                             .retry_at = soon()}) == Settlement::settled);
    }

    void post_timers(int round) {
        const std::string space = testing::timer_space;
        for (int n = 0; n < 3; ++n) {
            perform_at_last(PostTimer{.space = space,
                                      .id = std::to_string(10 * round + n),
                                      .payload = encode(Value{n}),
                                      .due_at = scene_.now,
                                      .retries_max = static_cast<std::uint32_t>(n),
                                      .confirm_within = Duration{n == 0 ? 0 : 50}});
        }
        // A timer of the previous round comes back, or becomes DEAD.
        const auto taken =
            perform_at_last(TakeTimers{.space = space, .listener = "ear", .limit = 4});
        CHECK(taken.timers.size() >= 3);
        perform_at_last(ConfirmTimer{space, std::to_string(10 * round + 1)});
        perform_at_last(PostTimer{.space = space,
                                  .id = "later",
                                  .payload = encode(Value{}),
                                  .due_at = scene_.now + Duration{1'000}});
        perform_at_last(PostponeTimer{space, "later", scene_.now + Duration{2'000}});
    }

    Disk& disk_;
    bool for_good_;
    DiskHealth health_;
    FileScene scene_;
    Twin twin_;
    std::vector<Lease> leases_;
    std::uint64_t recovered_ = 0;  // Failures after which the store recovered.
};

}  // namespace

TEST_CASE("whichever write fails, a step is done and stored, or is unavailable and undone") {
    for (const bool for_good : {false, true}) {
        CAPTURE(for_good);
        int refusing = 0;
        for (std::uint64_t nth = 1;; ++nth) {
            CAPTURE(nth);
            REQUIRE(nth < 10'000);
            Disk disk;
            FaultyDay day{disk, for_good};
            disk.fail_changes(nth, for_good);
            day.pass();
            if (disk.failures() == 0) break;
            refusing += day.failures() > 0 ? 1 : 0;
            disk.heal();
            day.check();
        }
        CHECK(refusing > 50);
    }
}
