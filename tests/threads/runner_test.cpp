#include "routemaster/runner.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "routemaster/error.hpp"
#include "routemaster/testing/manual_clock.hpp"

using namespace routemaster;

namespace {

/// An active object that records its calls, and lets the test wait for them.
class Witness final : public Active {
public:
    /// `polls_to_close`: the number of polls after `close` until the object is closed.
    explicit Witness(int polls_to_close = 0) : polls_to_close_{polls_to_close} {}

    TimePoint poll(TimePoint now) override {
        std::unique_lock lock{mutex_};
        ++polls_;
        last_poll_ = now;
        ++polls_by_[std::this_thread::get_id()];
        if (deadline_) {
            ++polls_after_close_;
        }
        changed_.notify_all();
        changed_.wait(lock, [this] { return !busy_; });
        const auto next = next_;
        const auto inside = inside_;
        lock.unlock();
        if (inside) inside();
        return next;
    }
    void wake_with(std::function<void()> wake) override {
        const std::lock_guard lock{wake_mutex_};
        wake_ = std::move(wake);
    }
    void close(TimePoint deadline) override {
        const std::lock_guard lock{mutex_};
        ++closes_;
        deadline_ = deadline;
        if (polls_to_close_ > 0) next_ = TimePoint::min();
    }
    [[nodiscard]] bool closed() const override {
        const std::lock_guard lock{mutex_};
        return deadline_ && polls_after_close_ > polls_to_close_;
    }

    /// Wakes the runner, as an event queue does when an event arrives.
    void wake() {
        const std::lock_guard lock{wake_mutex_};
        if (wake_) wake_();
    }
    [[nodiscard]] bool can_be_woken() const {
        const std::lock_guard lock{wake_mutex_};
        return static_cast<bool>(wake_);
    }

    /// Sets the result of `poll` from now on.
    void ask_for(TimePoint next) {
        const std::lock_guard lock{mutex_};
        next_ = next;
    }

    /// From now on each poll calls `body`.
    void poll_with(std::function<void()> body) {
        const std::lock_guard lock{mutex_};
        inside_ = std::move(body);
    }

    /// Calls `body` while a poll is under way and cannot end.
    template <class Body>
    void while_busy(Body body) {
        std::unique_lock lock{mutex_};
        const int before = polls_;
        busy_ = true;
        lock.unlock();
        wake();
        lock.lock();
        REQUIRE(changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return polls_ > before; }));
        lock.unlock();
        body();
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }

    /// The number of polls by the calling thread.
    [[nodiscard]] int polls_here() const {
        const std::lock_guard lock{mutex_};
        const auto found = polls_by_.find(std::this_thread::get_id());
        return found == polls_by_.end() ? 0 : found->second;
    }

    /// Waits for more than `count` polls. Returns their number.
    int wait_beyond(int count) {
        std::unique_lock lock{mutex_};
        REQUIRE(changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return polls_ > count; }));
        return polls_;
    }

    [[nodiscard]] int polls() const {
        const std::lock_guard lock{mutex_};
        return polls_;
    }
    [[nodiscard]] int closes() const {
        const std::lock_guard lock{mutex_};
        return closes_;
    }
    [[nodiscard]] std::optional<TimePoint> deadline() const {
        const std::lock_guard lock{mutex_};
        return deadline_;
    }
    [[nodiscard]] int polls_after_close() const {
        const std::lock_guard lock{mutex_};
        return polls_after_close_;
    }
    [[nodiscard]] TimePoint last_poll() const {
        const std::lock_guard lock{mutex_};
        return last_poll_;
    }

private:
    mutable std::mutex wake_mutex_;  // Guards `wake_`.
    std::function<void()> wake_;

    mutable std::mutex mutex_;  // Guards the next members.
    std::condition_variable changed_;
    std::function<void()> inside_;  // Called without the lock.
    TimePoint next_ = never;
    TimePoint last_poll_{};
    std::map<std::thread::id, int> polls_by_;
    std::optional<TimePoint> deadline_;
    int polls_to_close_;
    int polls_ = 0;
    int polls_after_close_ = 0;
    int closes_ = 0;
    bool busy_ = false;
};

/// A lent thread that the test simulates: requested iterations run when the test calls `turn`.
class Lender final : public SpareThread {
public:
    [[nodiscard]] bool lend(std::function<void()> turn) override {
        const std::lock_guard lock{mutex_};
        if (turn_) return false;
        turn_ = std::move(turn);
        return true;
    }
    void take_back() override {
        std::unique_lock lock{mutex_};
        ended_.wait(lock, [this] { return !in_turn_; });
        turn_ = nullptr;
    }
    [[nodiscard]] bool request_turn() override {
        std::unique_lock lock{mutex_};
        if (busy_) return false;
        ++requests_;
        if (!prompt_) return true;
        lock.unlock();
        std::thread{[this] { turn(); }}.join();
        return true;
    }

    void turn() {
        std::unique_lock lock{mutex_};
        if (!turn_) return;
        in_turn_ = true;
        lock.unlock();
        turn_();
        lock.lock();
        in_turn_ = false;
        ended_.notify_all();
    }
    void be_busy() {
        const std::lock_guard lock{mutex_};
        busy_ = true;
    }
    /// From now on an iteration ends before `request_turn` returns.
    void be_prompt() {
        const std::lock_guard lock{mutex_};
        prompt_ = true;
    }
    [[nodiscard]] int requests() const {
        const std::lock_guard lock{mutex_};
        return requests_;
    }
    [[nodiscard]] bool lent() const {
        const std::lock_guard lock{mutex_};
        return static_cast<bool>(turn_);
    }

private:
    mutable std::mutex mutex_;  // Guards the next members.
    std::condition_variable ended_;
    std::function<void()> turn_;  // Called without the lock.
    bool in_turn_ = false;
    int requests_ = 0;
    bool busy_ = false;
    bool prompt_ = false;
};

/// Wakes the witness until its runner leaves the next poll to the lender. The thread of a running
/// poll handles wake-ups itself.
void wake_for_turn(Witness& witness, const Lender& lender) {
    witness.wait_beyond(0);
    const int before = lender.requests();
    while (lender.requests() == before) {
        witness.wake();
        std::this_thread::yield();
    }
}

}  // namespace

TEST_CASE("a runner polls its object at once, with the time of its clock") {
    testing::ManualClock clock;
    Witness witness;
    Runner runner{witness, clock};
    witness.wait_beyond(0);
    CHECK(witness.last_poll() == clock.now());
}

TEST_CASE("a wake-up promptly wakes a sleeping runner") {
    testing::ManualClock clock;
    Witness witness;
    Runner runner{witness, clock};
    const auto begun = std::chrono::steady_clock::now();
    // Far more wake-ups than would be possible if each waited for the end of a sleep.
    int polls = witness.wait_beyond(0);
    for (int i = 0; i < 200; ++i) {
        witness.wake();
        polls = witness.wait_beyond(polls);
    }
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{20});
    CHECK(polls >= 201);
}

TEST_CASE("a runner polls at once when a poll is due, and otherwise sleeps until the due time") {
    Witness witness;
    SystemClock clock;
    const auto at = clock.now() + Duration{30};
    witness.ask_for(at);
    Runner runner{witness, clock};
    const int first = witness.wait_beyond(0);
    witness.wait_beyond(first);
    CHECK(witness.last_poll() >= at);
    // From then on the requested instant is past, so the runner polls without a pause.
    witness.wait_beyond(50);
}

TEST_CASE(
    "stopping a runner closes its object in an orderly way, at the latest when the grace period "
    "ends") {
    testing::ManualClock clock;
    Witness witness{3};
    Runner runner{witness, clock};
    witness.wait_beyond(0);
    runner.stop(Duration{5'000});
    CHECK(witness.closes() == 1);
    CHECK(witness.deadline() == clock.now() + Duration{5'000});
    CHECK(witness.polls_after_close() == 4);
    CHECK(witness.closed());
    CHECK(!witness.can_be_woken());
}

TEST_CASE("stopping a runner a second time does nothing") {
    testing::ManualClock clock;
    Witness witness;
    {
        Runner runner{witness, clock};
        runner.stop(Duration{0});
        const int polls = witness.polls();
        runner.stop(Duration{1'000});
        CHECK(witness.polls() == polls);
    }
    CHECK(witness.closes() == 1);
    CHECK(witness.deadline() == clock.now());
}

TEST_CASE("destroying a runner closes its object without a grace period") {
    testing::ManualClock clock;
    Witness witness;
    { const Runner runner{witness, clock}; }
    CHECK(witness.closes() == 1);
    CHECK(witness.deadline() == clock.now());
}

TEST_CASE("an endless grace period does not overflow") {
    testing::ManualClock clock;
    Witness witness;
    Runner runner{witness, clock};
    runner.stop(Duration::max());
    CHECK(witness.deadline() == never);
}

TEST_CASE("a runner may stop while many threads wake it") {
    testing::ManualClock clock;
    for (int round = 0; round < 50; ++round) {
        Witness witness;
        std::optional<Runner> runner;
        runner.emplace(witness, clock);
        std::jthread waker{[&](const std::stop_token& stopped) {
            while (!stopped.stop_requested()) witness.wake();
        }};
        witness.wait_beyond(1);
        runner.reset();
        CHECK(witness.closed());
    }
}

TEST_CASE("a runner leaves polls to a thread lent by a transport, while that thread has time") {
    testing::ManualClock clock;
    Witness witness;
    Lender lender;
    Runner runner{witness, clock, &lender};
    // Sometimes the runner polls by itself first, and handles the wake-up.
    for (int i = 0; i < 200; ++i) {
        wake_for_turn(witness, lender);
        lender.turn();
    }
    CHECK(witness.polls_here() > 100);
    lender.turn();
    CHECK_MESSAGE(witness.polls_here() <= 200, "nobody polls what was not woken");

    lender.be_busy();
    const int polls = witness.polls();
    witness.wake();
    witness.wait_beyond(polls);
}

TEST_CASE(
    "a poll on a lent thread that runs at once does not wait for the thread that woke the runner") {
    testing::ManualClock clock;
    Witness witness;
    Lender lender;
    Runner runner{witness, clock, &lender};
    lender.be_prompt();
    for (int i = 0; i < 200; ++i) wake_for_turn(witness, lender);
    CHECK(witness.polls() > 200);
}

TEST_CASE("a lent thread makes one poll per request, and a further due poll is requested again") {
    testing::ManualClock clock;
    Witness witness;
    Lender lender;
    Runner runner{witness, clock, &lender};
    wake_for_turn(witness, lender);
    witness.ask_for(TimePoint::min());
    // The runner may poll by itself between two iterations, and leave no work for the second.
    int left = 0;
    for (int i = 0; i < 100; ++i) {
        const int polls = witness.polls_here();
        const int requests = lender.requests();
        lender.turn();
        const int polled = witness.polls_here() - polls;
        CHECK(polled <= 1);
        if (polled == 1) CHECK(lender.requests() == requests + 1);
        left += polled;
    }
    CHECK(left > 50);
}

TEST_CASE("a runner polls on its own thread when the lent thread has no time for the next poll") {
    testing::ManualClock clock;
    Witness witness;
    Lender lender;
    Runner runner{witness, clock, &lender};
    wake_for_turn(witness, lender);
    witness.ask_for(TimePoint::min());
    lender.be_busy();
    lender.turn();
    witness.wait_beyond(witness.polls() + 100);
}

TEST_CASE("a poll on a lent thread can shorten the sleep of the runner's own thread") {
    testing::ManualClock clock;
    Witness witness;
    Lender lender;
    Runner runner{witness, clock, &lender};
    const auto begun = std::chrono::steady_clock::now();
    // The limit is half of the time that polls at the end of each sleep would take.
    for (int i = 0; i < 20; ++i) {
        wake_for_turn(witness, lender);
        witness.ask_for(clock.now() + Duration{900 - i});
        const int polls = witness.polls();
        lender.turn();
        // The poll by the lent thread, and a poll by the runner, which then sleeps anew.
        witness.wait_beyond(polls + 1);
    }
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{9});
}

TEST_CASE("a poll on a lent thread cannot stop the runner, which keeps running") {
    testing::ManualClock clock;
    Witness witness;
    Lender lender;
    Runner runner{witness, clock, &lender};
    int refused = 0;
    witness.poll_with([&, spare = std::this_thread::get_id()] {
        if (std::this_thread::get_id() != spare) return;
        try {
            runner.stop(Duration{0});
        } catch (const Failure& failure) {
            if (failure.error().code() == Errc::invalid) ++refused;
        }
    });
    // Sometimes the runner polls by itself, and leaves no work for the lent thread.
    for (int i = 0; i < 200; ++i) {
        wake_for_turn(witness, lender);
        lender.turn();
    }
    CHECK(refused == witness.polls_here());
    CHECK(refused > 100);
    runner.stop(Duration{0});
    CHECK(witness.closed());
}

TEST_CASE("only one of two runners can use a lent thread, until this runner stops") {
    testing::ManualClock clock;
    Lender lender;
    Witness witness;
    Witness other;
    Runner runner{witness, clock, &lender};
    {
        Runner alone{other, clock, &lender};
        const int polls = other.wait_beyond(0);
        other.wake();
        other.wait_beyond(polls);
    }
    CHECK(lender.lent());
    wake_for_turn(witness, lender);
    const int before = witness.polls_here();
    runner.stop(Duration{0});
    CHECK(witness.closed());
    CHECK_MESSAGE(witness.polls_here() == before, "the end is the runner's own");
    CHECK(!lender.lent());
}

TEST_CASE("a runner may stop while a lent thread polls and many threads wake the runner") {
    testing::ManualClock clock;
    for (int round = 0; round < 5; ++round) {
        Witness witness;
        Lender lender;
        std::optional<Runner> runner;
        runner.emplace(witness, clock, &lender);
        std::jthread waker{[&](const std::stop_token& stopped) {
            while (!stopped.stop_requested()) witness.wake();
        }};
        std::jthread spare{[&](const std::stop_token& stopped) {
            while (!stopped.stop_requested()) {
                lender.turn();
                std::this_thread::yield();
            }
        }};
        witness.wait_beyond(20);
        runner.reset();
        CHECK(witness.closed());
    }
}

TEST_CASE("a runner is unhealthy while a single poll takes longer than 10 s") {
    testing::ManualClock clock;
    Witness witness;
    Runner runner{witness, clock};
    witness.wait_beyond(0);
    CHECK(!runner.trouble());
    witness.while_busy([&] {
        clock.advance(Duration{9'999});
        CHECK(!runner.trouble());
        clock.advance(Duration{5'001});
        CHECK(runner.trouble() == std::optional<std::string>{"has not finished a poll for 15 s"});
    });
    while (runner.trouble()) std::this_thread::yield();
}

TEST_CASE("an exception from a poll ends the program, as an exception on any thread does") {
    struct Thrower final : Active {
        TimePoint poll(TimePoint) override { throw std::runtime_error{"half a turn"}; }
        void wake_with(std::function<void()>) override {}
        void close(TimePoint) override {}
        [[nodiscard]] bool closed() const override { return true; }
    };
    const auto child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::freopen("/dev/null", "w", stderr);
        std::signal(SIGABRT, SIG_DFL);
        Thrower thrower;
        {
            Runner runner{thrower};
            std::this_thread::sleep_for(std::chrono::seconds{20});
        }
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
}
