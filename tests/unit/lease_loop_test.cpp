#include "core/work/lease_loop.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/perform.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/memory.hpp"
#include "support/disturbed_store.hpp"
#include "support/recorded_log.hpp"
#include "support/sleepy_store.hpp"

using namespace routemaster;
using namespace routemaster::test;
using routemaster::detail::LeaseLoop;
using routemaster::detail::LeaseLoopOptions;

namespace {

using Id = LeaseLoop::Id;

/// Notes its calls, and does nothing by itself.
struct Notes final : LeaseLoop::Owner {
    void acquired(Id id, const Lease& lease) override { under_way[id] = lease.job; }
    void begun(Id id, Outcome outcome) override { beginnings.emplace_back(id, outcome); }
    void begin_again(Id id) override { to_begin_again.push_back(id); }
    void settled(Id id, Settlement settlement) override { settlements[id] = settlement; }
    void unfit(Id id, const Error&) override { unfit_ones.push_back(id); }
    void lost(Id id) override { lost_ones.push_back(id); }

    /// The jobs that came, each as often as it came.
    [[nodiscard]] std::vector<std::string> jobs() const {
        std::vector<std::string> all;
        for (const auto& [id, job] : under_way) all.push_back(job);
        return all;
    }

    std::map<Id, std::string> under_way;
    std::vector<std::pair<Id, Outcome>> beginnings;
    std::vector<Id> to_begin_again;
    std::map<Id, Settlement> settlements;
    std::vector<Id> unfit_ones;
    std::vector<Id> lost_ones;
};

/// A worker with a number of slots. Single threaded.
class LoopWorker {
public:
    LoopWorker(Store& store, TimePoint& now, LeaseLoopOptions options, std::size_t slots)
        : now_{now}, slots_{slots}, loop{store, std::move(options), notes} {
        loop.wake_with([this] { woken_ = true; });
    }

    /// Polls when the loop asked for it, or was woken.
    void run() {
        for (int polls = 0; std::exchange(woken_, false) || next_ <= now_; ++polls) {
            REQUIRE_MESSAGE(polls < 10'000, "the loop asks to be polled for ever");
            poll();
        }
    }

    void poll() {
        loop.receive(now_);
        next_ = loop.send(slots_ - std::min(slots_, loop.leased()));
    }

    void close(TimePoint deadline) {
        loop.close(deadline);
        woken_ = true;
        run();
    }

    [[nodiscard]] TimePoint next() const { return next_; }
    void wake() { woken_ = true; }

private:
    TimePoint& now_;
    std::size_t slots_;
    bool woken_ = false;
    TimePoint next_ = TimePoint::min();

public:
    Notes notes;
    LeaseLoop loop;
};

/// Notes what workers ask for.
class Acquisitions final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        for (const auto& step : steps) {
            if (const auto* asked = std::get_if<AcquireJobs>(&step)) all.push_back(*asked);
        }
        next().submit(steps, now, std::move(done));
    }

    std::vector<AcquireJobs> all;
};

/// A store that may be away: what it is sent then, it does when it is back.
class AwayStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        if (!away_) return next().submit(steps, now, std::move(done));
        sent_.push_back({std::vector<Step>(steps.begin(), steps.end()), now, std::move(done)});
    }

    void leave() { away_ = true; }
    void come_back() {
        away_ = false;
        for (auto& each : std::exchange(sent_, {})) {
            next().submit(each.steps, each.now, std::move(each.done));
        }
    }

private:
    struct Sent {
        std::vector<Step> steps;
        TimePoint now;
        Completion done;
    };

    bool away_ = false;
    std::vector<Sent> sent_;
};

/// A store with a queue `images`, and a worker on it. Single threaded.
struct LeaseScene {
    explicit LeaseScene(std::size_t slots = 10, LeaseLoopOptions options = {})
        : worker{disturbed, now, complete(std::move(options)), slots} {}

    LeaseLoopOptions complete(LeaseLoopOptions options) {
        options.queue = "images";
        options.worker = Uid{scatter(++workers), 0};
        options.log = log.sink();
        return options;
    }

    void push(const std::string& job) { perform(store, PushJob{"images", job, now}, now).value(); }
    void push_many(int count) {
        for (int i = 1; i <= count; ++i) push("job-" + std::to_string(i));
    }

    void run() { worker.run(); }
    void run_for(Duration span) {
        const auto end = now + span;
        for (run(); worker.next() < end; run()) now = worker.next();
        now = end;
        run();
    }

    void ack(Id id) {
        worker.loop.settle(id, AckJob{worker.loop.lease(id)});
        worker.wake();
    }

    [[nodiscard]] QueueStatus queue() { return perform(store, CountJobs{"images"}, now).value(); }
    [[nodiscard]] std::vector<std::string> jobs() const { return worker.notes.jobs(); }

    /// The waits between steps of a kind, in milliseconds.
    template <class S>
    [[nodiscard]] std::vector<std::int64_t> waits() {
        const auto times = disturbed.times_of<S>();
        std::vector<std::int64_t> all;
        for (std::size_t i = 1; i < times.size(); ++i) {
            all.push_back((times[i] - times[i - 1]).count());
        }
        return all;
    }

    TimePoint now = from_milliseconds(1'700'000'000'000);
    std::uint64_t workers = 0;
    MemoryStore store;
    DisturbedStore disturbed{store};
    RecordedLog log;
    LoopWorker worker;
};

using Jobs = std::vector<std::string>;
constexpr Duration hour{3'600'000};

/// A store whose wake-ups come when the test says so.
class LateStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    [[nodiscard]] Watch watch(const std::string&, std::function<void()> wake) override {
        wake_ = std::move(wake);
        return {};
    }
    void wake() const { wake_(); }

private:
    std::function<void()> wake_;
};

}  // namespace

// --- Acquisition --------------------------------------------------------------------------------

TEST_CASE("a worker takes a job that is pushed, and learns when it is settled") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    REQUIRE(scene.jobs() == Jobs{"resize"});
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    scene.ack(1);
    CHECK(scene.worker.loop.settling(1));
    scene.run();
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::settled);
    CHECK(scene.worker.loop.leased() == 0);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("a worker acquires no more jobs than it has free slots") {
    LeaseScene scene{2};
    scene.push_many(5);
    scene.run();
    CHECK(scene.jobs() == Jobs{"job-1", "job-2"});
    scene.run_for(Duration{3'000});
    CHECK(scene.jobs().size() == 2);
    CHECK(scene.queue() == QueueStatus{.ready = 3, .pending = 2});
    scene.ack(1);
    scene.run();
    CHECK(scene.jobs() == Jobs{"job-1", "job-2", "job-3"});
}

TEST_CASE("a worker without a free slot asks for no job") {
    LeaseScene scene{0};
    scene.push("resize");
    scene.run_for(Duration{5'000});
    CHECK(scene.disturbed.times_of<AcquireJobs>().empty());
}

TEST_CASE("a worker that is woken takes its job at that instant") {
    LeaseScene scene{
        10, {.heartbeat_interval = hour, .worker_silence = 2 * hour, .poll_interval = hour}};
    scene.run_for(Duration{1'234});
    scene.push("resize");
    scene.run();
    CHECK(scene.jobs() == Jobs{"resize"});
}

TEST_CASE("a worker takes a scheduled job when it falls due") {
    LeaseScene scene{
        10, {.heartbeat_interval = hour, .worker_silence = 2 * hour, .poll_interval = hour}};
    perform(scene.store, PushJob{"images", "resize", scene.now + Duration{777}}, scene.now).value();
    scene.run_for(Duration{776});
    CHECK(scene.jobs().empty());
    scene.run_for(Duration{1});
    CHECK(scene.jobs() == Jobs{"resize"});
}

TEST_CASE("a job whose wake-up got lost is found after the interval") {
    LeaseScene scene;
    SleepyStore sleepy{scene.store};
    LoopWorker worker{sleepy, scene.now, scene.complete({.poll_interval = Duration{400}}), 1};
    worker.run();
    scene.push("resize");
    scene.now += Duration{399};
    worker.run();
    CHECK(worker.notes.jobs().empty());
    scene.now += Duration{1};
    worker.run();
    CHECK(worker.notes.jobs() == Jobs{"resize"});
}

TEST_CASE("a job of which no wake-up told is run, counted, and logged with why it had not begun") {
    LeaseScene scene;
    SleepyStore sleepy{scene.store};
    LoopWorker worker{sleepy, scene.now, scene.complete({}), 2};
    const auto run_for = [&](Duration span) {
        scene.now += span;
        worker.run();
    };
    const auto missed = [&] {
        for (const auto& [key, value] : perform(scene.store, ListCounters{}, scene.now).value()) {
            if (key == CounterKey{"wakeups.missed", {{"queue", "images"}}}) return value;
        }
        return std::int64_t{0};
    };
    worker.run();
    run_for(Duration{500});
    scene.push_many(3);
    run_for(Duration{500});
    CHECK(worker.notes.jobs() == Jobs{"job-1", "job-2"});
    // Its wake-up may still be on its way.
    run_for(Duration{99});
    CHECK(missed() == 0);
    run_for(Duration{1});
    CHECK(missed() == 2);
    CHECK(scene.log.count(LogLevel::warning,
                          "queue 'images' had 2 READY though a worker was idle, and no wake-up "
                          "came; job 1: it is READY for attempt 1 of 25, as are 2 others of its "
                          "queue") == 1);

    // While it had no free slot, none had to come.
    run_for(Duration{3'000});
    worker.loop.settle(1, AckJob{worker.loop.lease(1)});
    worker.wake();
    run_for(Duration{200});
    CHECK(worker.notes.jobs() == Jobs{"job-1", "job-2", "job-3"});
    CHECK(missed() == 2);
}

TEST_CASE("a wake-up that comes shortly after its job was found was not missed") {
    LeaseScene scene;
    LateStore late{scene.store};
    LoopWorker worker{late, scene.now, scene.complete({}), 10};
    worker.run();
    scene.push("resize");
    scene.now += Duration{1'000};
    worker.run();
    CHECK(worker.notes.jobs() == Jobs{"resize"});
    scene.now += Duration{50};
    late.wake();
    worker.wake();
    worker.run();
    scene.now += Duration{500};
    worker.run();
    CHECK(scene.log.count(LogLevel::warning, "no wake-up came") == 0);
}

TEST_CASE("what falls due, or was woken for, is no missed wake-up") {
    LeaseScene scene;
    scene.run();
    perform(scene.store, PushJob{"images", "later", scene.now + Duration{2'500}}, scene.now)
        .value();
    scene.run_for(Duration{3'000});
    scene.push("now");
    scene.run_for(Duration{3'000});
    perform(scene.store, LimitQueue{"images", {.queue = RateLimit{.per = Duration{5'000}}}},
            scene.now)
        .value();
    scene.push_many(2);
    scene.run_for(Duration{10'000});
    CHECK(scene.jobs() == Jobs{"later", "now", "job-1", "job-2"});
    CHECK(scene.log.count(LogLevel::warning, "no wake-up came") == 0);
}

TEST_CASE("workers of a queue without a token sleep until the next") {
    LeaseScene scene{
        10, {.heartbeat_interval = hour, .worker_silence = 2 * hour, .poll_interval = hour}};
    perform(scene.store, LimitQueue{"images", {.queue = RateLimit{.per = Duration{1'000}}}},
            scene.now)
        .value();
    scene.push_many(5);
    scene.run_for(Duration{10'000});
    CHECK(scene.jobs().size() == 5);
    // Once for each job.
    CHECK(scene.waits<AcquireJobs>() == std::vector<std::int64_t>{1'000, 1'000, 1'000, 1'000});
}

TEST_CASE("a store that refuses jobs is asked again after growing waits") {
    LeaseScene scene{10, {.poll_interval = hour}};
    scene.disturbed.refuse<AcquireJobs>(6);
    scene.push("resize");
    scene.run_for(Duration{3'499});
    CHECK(scene.jobs().empty());
    scene.run_for(Duration{1});
    CHECK(scene.jobs() == Jobs{"resize"});
    CHECK(scene.waits<AcquireJobs>() ==
          std::vector<std::int64_t>{100, 200, 400, 800, 1'000, 1'000});
    CHECK(scene.log.count(LogLevel::warning, "cannot acquire jobs: ") == 1);
}

TEST_CASE("a store that has refused jobs for 5 s is trouble until it returns some") {
    LeaseScene scene;
    scene.disturbed.refuse<AcquireJobs>(9);
    scene.run_for(Duration{4'999});
    CHECK(!scene.worker.loop.trouble());
    scene.run_for(Duration{1});
    CHECK(scene.worker.loop.trouble().value_or("").starts_with("cannot acquire jobs: "));
    scene.run_for(Duration{3'000});
    CHECK(!scene.worker.loop.trouble());
}

TEST_CASE("leases whose reply was lost come with the next acquisition") {
    LeaseScene scene;
    scene.disturbed.lose_replies<AcquireJobs>(repeats_max + 1);
    scene.push_many(3);
    scene.run_for(Duration{200});
    CHECK(scene.jobs() == Jobs{"job-1", "job-2", "job-3"});
}

TEST_CASE("a clock that is set back makes nobody wait twice") {
    LeaseScene scene{1, {.heartbeat_interval = hour, .worker_silence = 2 * hour}};
    scene.push_many(2);
    scene.run();
    scene.disturbed.refuse<AckJob>(1);
    scene.ack(1);
    scene.run();
    scene.now -= Duration{600'000};
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.notes.settlements.contains(1));
    CHECK(scene.jobs() == Jobs{"job-1", "job-2"});
}

// --- Staying alive ------------------------------------------------------------------------------

TEST_CASE("a worker says each interval that it is alive, and looks for the dead") {
    LeaseScene scene{1, {.heartbeat_interval = Duration{700}}};
    scene.run_for(Duration{2'100});
    const std::vector<std::int64_t> expected{700, 700, 700};
    CHECK(scene.waits<Heartbeat>() == expected);
    CHECK(scene.waits<ScrubWorkers>() == expected);
}

TEST_CASE("a worker that has all it can do is not taken for dead") {
    LeaseScene scene{1};
    scene.push("resize");
    scene.run();
    for (int i = 0; i < 10; ++i) {
        scene.run_for(Duration{1'000});
        perform(scene.store, ScrubWorkers{Duration{3'500}}, scene.now).value();
    }
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}

TEST_CASE("what a dead worker had leased is done by another") {
    LeaseScene scene{2'000};
    LoopWorker dead{scene.store, scene.now, scene.complete({}), 2'000};
    scene.push_many(1'500);
    for (int i = 0; i < 10; ++i) dead.poll();
    REQUIRE(dead.loop.leased() == 1'500);
    scene.run_for(Duration{3'000});
    CHECK(scene.jobs().empty());
    // More than one step releases: the rest follows at once.
    scene.run_for(Duration{1'500});
    CHECK(scene.jobs().size() == 1'500);
}

TEST_CASE("a worker says which fence it got last, also when it asks for all of its leases") {
    LeaseScene scene{10, {.finds_lost = true}};
    Acquisitions recorded{scene.store};
    LoopWorker worker{recorded, scene.now, scene.complete({.finds_lost = true}), 10};
    scene.push("resize");
    worker.run();
    REQUIRE(worker.loop.leased() == 1);
    const auto fence = worker.loop.lease(1).fence;
    scene.now += Duration{60'000};
    worker.run();
    CHECK(recorded.all.front().newest == 0);
    REQUIRE(recorded.all.back().known == 0);
    CHECK(recorded.all.back().newest == fence);
}

TEST_CASE("workers that stood still together do not take each other for dead") {
    LeaseScene scene{1};
    LoopWorker other{scene.store, scene.now, scene.complete({}), 1};
    scene.push("resize");
    scene.run();
    other.run();
    REQUIRE(scene.worker.loop.leased() == 1);
    scene.now += Duration{60'000};
    // Whoever looks first has not heard of the rest.
    other.run();
    scene.run();
    for (int i = 0; i < 5; ++i) {
        scene.now += Duration{1'000};
        other.run();
        scene.run();
    }
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    // One that does not wake up again is dead, though all others are late each time.
    for (int i = 0; i < 5; ++i) {
        scene.now += Duration{3'000};
        other.run();
    }
    CHECK(other.notes.jobs() == Jobs{"resize"});
}

TEST_CASE("after a store was away, its workers do not take each other for dead") {
    LeaseScene scene{1, {.finds_lost = true}};
    AwayStore away{scene.store};
    LoopWorker other{away, scene.now, scene.complete({.finds_lost = true}), 1};
    scene.push("resize");
    scene.run();
    other.run();
    REQUIRE(scene.worker.loop.leased() == 1);
    away.leave();
    // The store hears of neither.
    scene.disturbed.refuse<Heartbeat>(1'000);
    for (int i = 0; i < 20; ++i) {
        scene.now += Duration{500};
        scene.run();
        other.run();
    }
    // What the other sent meanwhile comes first.
    away.come_back();
    other.run();
    CHECK(scene.queue() == QueueStatus{.pending = 1});
    for (int i = 0; i < 6; ++i) {
        scene.now += Duration{500};
        other.run();
        CHECK(scene.queue() == QueueStatus{.pending = 1});
    }
    // Who is not heard of by then is dead.
    scene.now += Duration{2'000};
    other.run();
    scene.now += Duration{2'000};
    other.run();
    CHECK(other.notes.jobs() == Jobs{"resize"});
}

TEST_CASE("a worker whose store was away asks what it lost, though it never stood still") {
    LeaseScene scene;
    AwayStore away{scene.store};
    LoopWorker worker{away, scene.now, scene.complete({.finds_lost = true}), 1};
    scene.push("resize");
    worker.run();
    REQUIRE(worker.loop.leased() == 1);
    away.leave();
    for (int i = 0; i < 4; ++i) {
        scene.now += Duration{1'000};
        worker.run();
    }
    perform(scene.store, ScrubWorkers{Duration{3'500}}, scene.now).value();
    away.come_back();
    worker.run();
    CHECK(worker.notes.lost_ones.size() == 1);
}

TEST_CASE("a worker that stood still can settle nothing that was handed on") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.now += Duration{60'000};
    LoopWorker other{scene.store, scene.now, scene.complete({}), 1};
    for (int i = 0; i < 3; ++i) other.poll();
    REQUIRE(other.notes.jobs() == Jobs{"resize"});
    scene.ack(1);
    scene.run();
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::lease_lost);
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}

TEST_CASE("a worker that stood still finds which leases it has lost, if it wants to know") {
    bool wants = false;
    SUBCASE("it does not") {}
    SUBCASE("it does") { wants = true; }
    LeaseScene scene{10, {.finds_lost = wants}};
    scene.push_many(3);
    scene.run();
    scene.now += Duration{60'000};
    // Another took two of them, and the third was released to nobody.
    LoopWorker other{scene.store, scene.now, scene.complete({}), 2};
    for (int i = 0; i < 3; ++i) other.poll();
    REQUIRE(other.notes.jobs().size() == 2);
    scene.run_for(Duration{100});
    if (wants) {
        CHECK(scene.worker.notes.lost_ones.size() == 3);
        CHECK(scene.jobs() == Jobs{"job-1", "job-2", "job-3", "job-3"});
        CHECK(scene.worker.loop.leased() == 1);
    } else {
        CHECK(scene.worker.notes.lost_ones.empty());
        CHECK(scene.worker.loop.leased() == 4);
    }
}

TEST_CASE("a worker whose heartbeats got lost, but whom nobody took for dead, loses nothing") {
    LeaseScene scene{10, {.finds_lost = true}};
    scene.push_many(3);
    scene.run();
    scene.disturbed.refuse<Heartbeat>(10);
    scene.run_for(Duration{20'000});
    CHECK(scene.worker.notes.lost_ones.empty());
    CHECK(scene.worker.loop.leased() == 3);
    CHECK(scene.jobs().size() == 3);
}

TEST_CASE("what is being settled is not reported as lost besides") {
    LeaseScene scene{10, {.finds_lost = true}};
    scene.push("resize");
    scene.run();
    scene.now += Duration{60'000};
    LoopWorker other{scene.store, scene.now, scene.complete({}), 2};
    for (int i = 0; i < 3; ++i) other.poll();
    scene.disturbed.refuse<AckJob>(1);
    scene.ack(1);
    scene.run_for(Duration{1'000});
    CHECK(scene.worker.notes.lost_ones.empty());
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::lease_lost);
}

TEST_CASE("where attempts are counted, one that is released does not count") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.worker.loop.release(1);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.lease(2).attempt == 1);
    CHECK(scene.disturbed.times_of<NackJob>().empty());
}

// --- Steps about leases -------------------------------------------------------------------------

TEST_CASE("a settlement that the store refuses is repeated until it is done") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<AckJob>(3);
    scene.ack(1);
    scene.run_for(Duration{699});
    CHECK(!scene.worker.notes.settlements.contains(1));
    scene.run_for(Duration{1});
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::settled);
    CHECK(scene.waits<AckJob>() == std::vector<std::int64_t>{100, 200, 400});
    CHECK(scene.log.count(LogLevel::warning, "the store failed") == 1);
}

TEST_CASE("a settlement whose reply was lost is settled, and its refusal says so") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.lose_replies<AckJob>(1);
    scene.ack(1);
    scene.run();
    CHECK(scene.worker.loop.refusals(1) == 1);
    scene.run_for(Duration{100});
    CHECK(scene.worker.notes.settlements.at(1) == Settlement::lease_lost);
    CHECK(scene.queue() == QueueStatus{});
}

TEST_CASE("settlements of many jobs leave together, before the next question for jobs") {
    LeaseScene scene{2};
    scene.push_many(4);
    scene.run();
    scene.ack(1);
    scene.ack(2);
    scene.worker.poll();
    CHECK(scene.disturbed.times_of<AckJob>().size() == 2);
    CHECK(scene.queue().pending == 0);
    scene.run();
    CHECK(scene.jobs().size() == 4);
}

TEST_CASE("a beginning that the store refuses is asked for again after growing waits") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<CountJobs>(2);
    const auto begin = [&] {
        scene.worker.loop.begin(1, CountJobs{"images"});
        scene.worker.wake();
        scene.run();
    };
    begin();
    scene.run_for(Duration{99});
    CHECK(scene.worker.notes.to_begin_again.empty());
    scene.run_for(Duration{1});
    REQUIRE(scene.worker.notes.to_begin_again.size() == 1);
    begin();
    scene.run_for(Duration{200});
    REQUIRE(scene.worker.notes.to_begin_again.size() == 2);
    begin();
    REQUIRE(scene.worker.notes.beginnings.size() == 1);
    CHECK(std::get<QueueStatus>(*scene.worker.notes.beginnings[0].second).pending == 1);
    CHECK(scene.worker.loop.refusals(1) == 2);
}

TEST_CASE("a job that the store calls invalid is reported, and can be nacked") {
    LeaseScene scene;
    scene.push("no delivery");
    scene.run();
    scene.worker.loop.begin(
        1, BeginDelivery{.lease = scene.worker.loop.lease(1), .backoff_max = Duration{1'000}});
    scene.worker.wake();
    scene.run();
    REQUIRE(scene.worker.notes.unfit_ones == std::vector<Id>{1});
    CHECK(scene.worker.loop.leased() == 1);
    scene.worker.loop.release(1, scene.now + Duration{500});
    scene.worker.wake();
    scene.run();
    CHECK(scene.queue() == QueueStatus{.scheduled = 1});
    scene.run_for(Duration{500});
    CHECK(scene.jobs().size() == 2);
}

// --- The end ------------------------------------------------------------------------------------

TEST_CASE("a worker without leases retires at once, and is forgotten") {
    LeaseScene scene;
    scene.run();
    CHECK(!scene.worker.loop.retired());
    scene.worker.close(scene.now + hour);
    CHECK(scene.worker.loop.retired());
    CHECK(scene.disturbed.times_of<RetireWorker>().size() == 1);
    const auto heartbeats = scene.disturbed.times_of<Heartbeat>().size();
    scene.push("resize");
    scene.run_for(Duration{60'000});
    CHECK(scene.disturbed.times_of<Heartbeat>().size() == heartbeats);
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(perform(scene.store, ScrubWorkers{Duration{0}}, scene.now).value().value == 0);
}

TEST_CASE("a worker that closes takes nothing new, and ends what it has") {
    LeaseScene scene{2};
    scene.push_many(4);
    scene.run();
    scene.worker.close(scene.now + hour);
    scene.ack(1);
    scene.run_for(Duration{5'000});
    CHECK(scene.jobs().size() == 2);
    CHECK(!scene.worker.loop.retired());
    CHECK(scene.disturbed.times_of<Heartbeat>().size() == 6);
    scene.ack(2);
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 2});
}

TEST_CASE("what is nacked at the end is released in one step, however much it is") {
    LeaseScene scene{2'000};
    scene.push_many(1'500);
    for (int i = 0; i < 10; ++i) scene.worker.poll();
    REQUIRE(scene.worker.loop.leased() == 1'500);
    scene.worker.loop.close(scene.now);
    for (const auto& [id, job] : scene.worker.notes.under_way) scene.worker.loop.release(id);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 1'500});
    CHECK(scene.disturbed.times_of<ReleaseJob>().empty());
    CHECK(scene.disturbed.times_of<RetireWorker>().size() == 2);
}

TEST_CASE("jobs that arrive after the deadline go back unseen") {
    LeaseScene scene{3};
    scene.push("job-1");
    scene.run();
    scene.disturbed.delay<AcquireJobs>();
    scene.push("job-2");
    scene.run();
    scene.worker.close(scene.now);
    scene.disturbed.release();
    scene.run();
    CHECK(scene.jobs() == Jobs{"job-1"});
    CHECK(scene.disturbed.times_of<ReleaseJob>().size() == 1);
    CHECK(scene.queue() == QueueStatus{.ready = 1, .pending = 1});
    scene.worker.loop.release(1);
    scene.worker.wake();
    scene.run();
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 2});
}

TEST_CASE("settlements are awaited for 5 s beyond the deadline, and no longer") {
    LeaseScene scene;
    scene.push("resize");
    scene.run();
    scene.disturbed.refuse<AckJob>(1'000);
    scene.ack(1);
    scene.worker.close(scene.now + Duration{1'000});
    scene.run_for(Duration{5'999});
    CHECK(!scene.worker.loop.retired());
    scene.run_for(Duration{1});
    CHECK(scene.worker.loop.retired());
    CHECK(scene.queue() == QueueStatus{.ready = 1});
    CHECK(scene.log.count(LogLevel::warning, "gave up settling what was done, 1 in all") == 1);
}

TEST_CASE("a store that cannot retire a worker does not keep it from ending") {
    LeaseScene scene;
    scene.run();
    scene.disturbed.refuse<RetireWorker>(1);
    scene.worker.close(scene.now);
    CHECK(scene.worker.loop.retired());
    CHECK(scene.log.count(LogLevel::warning, "could not release what was under way") == 1);
}

TEST_CASE("a reply that comes after the worker is gone reaches nobody") {
    LeaseScene scene;
    scene.disturbed.delay<AcquireJobs>();
    {
        LoopWorker brief{scene.disturbed, scene.now, scene.complete({}), 1};
        scene.push("resize");
        brief.run();
    }
    scene.disturbed.release();
    CHECK(scene.queue() == QueueStatus{.pending = 1});
}
