/// @file
/// A process that posts and takes timers is killed. Its acknowledged steps must survive, and a
/// timer that fired must not fire again.

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

const std::string space = "reminders";
constexpr TimePoint start = from_milliseconds(1'700'000'000'000);

/// Timers with odd numbers have retries.
std::uint32_t retries_of(std::uint32_t number) { return number % 2 == 0 ? 0 : 3; }

/// A report about a timer from the process that will be killed.
struct TimerReport {
    enum class Kind : std::uint32_t { posted, fired, confirming, confirmed };

    Kind kind;
    std::uint32_t number;
};

/// Posts, takes and confirms timers until the process is killed. An error ends the process with a
/// different signal.
class TimerVictim {
public:
    TimerVictim(const std::filesystem::path& file, int reports)
        : store_{file, {.slack_max = 20'000}}, reports_{reports} {}

    [[noreturn]] void work(std::uint32_t number) {
        const std::jthread poster{[this, number] { post(number); }};
        take();
    }

private:
    void post(std::uint32_t number) {
        while (true) {
            ++number;
            must(PostTimer{.space = space,
                           .id = std::to_string(number),
                           .payload = encode(Value{number}),
                           .due_at = start + Duration{number % 7},
                           .retries_max = retries_of(number)});
            report(TimerReport::Kind::posted, number);
        }
    }

    [[noreturn]] void take() {
        while (true) {
            const auto taken = must(TakeTimers{.space = space, .listener = "ear", .limit = 20});
            for (const auto& timer : taken.timers) {
                const auto number = static_cast<std::uint32_t>(std::stoul(timer.id));
                report(TimerReport::Kind::fired, number);
                // Some timers stay FIRED.
                if (timer.retries_max == 0 || number % 5 == 0) continue;
                report(TimerReport::Kind::confirming, number);
                if (must(ConfirmTimer{space, timer.id, timer.retries}) !=
                    TimerConfirmed::confirmed) {
                    std::abort();
                }
                report(TimerReport::Kind::confirmed, number);
            }
        }
    }

    template <class S>
    typename S::Reply must(S step) {
        return perform(store_, std::move(step), start + Duration{10}).value();
    }

    /// Written without a buffer: data in the pipe survives the process.
    void report(TimerReport::Kind kind, std::uint32_t number) const {
        const TimerReport one{kind, number};
        if (::write(reports_, &one, sizeof one) != sizeof one) std::abort();
    }

    EmbeddedStore store_;
    int reports_;
};

/// No exception may return to the test.
[[noreturn]] void be_victim(const std::filesystem::path& file, int reports,
                            std::uint32_t number) noexcept {
    TimerVictim{file, reports}.work(number);
}

/// Lets a process work on the file for a while, kills it, and returns all its reports.
std::vector<TimerReport> reports_until_killed(const std::filesystem::path& file,
                                              std::chrono::milliseconds lifetime,
                                              std::uint32_t number) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const auto [reading, writing] = ends;
    const pid_t victim = ::fork();
    if (victim == 0) {
        ::close(reading);
        be_victim(file, writing, number);
    }
    ::close(writing);
    const auto end = std::chrono::steady_clock::now() + lifetime;
    bool killed = false;
    std::string bytes;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        if (!killed && left.count() <= 0) {
            ::kill(victim, SIGKILL);
            killed = true;
        }
        pollfd readable{reading, POLLIN, 0};
        ::poll(&readable, 1, killed ? -1 : static_cast<int>(std::max<long>(left.count(), 0)));
        if (readable.revents == 0) continue;
        std::array<char, 65'536> chunk;
        const auto got = ::read(reading, chunk.data(), chunk.size());
        if (got <= 0) break;
        bytes.append(chunk.data(), static_cast<std::size_t>(got));
    }
    ::close(reading);
    int status = 0;
    REQUIRE(::waitpid(victim, &status, 0) == victim);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
    std::vector<TimerReport> reports(bytes.size() / sizeof(TimerReport));
    std::memcpy(reports.data(), bytes.data(), reports.size() * sizeof(TimerReport));
    return reports;
}

/// The reports about a timer.
struct Fate {
    bool posted = false;
    int fired = 0;
    bool confirming = false;
    bool confirmed = false;
};
using Fates = std::map<std::uint32_t, Fate>;

void note(Fates& fates, const std::vector<TimerReport>& reports) {
    for (const auto& [kind, number] : reports) {
        auto& fate = fates[number];
        switch (kind) {
            case TimerReport::Kind::posted: fate.posted = true; break;
            case TimerReport::Kind::fired: ++fate.fired; break;
            case TimerReport::Kind::confirming: fate.confirming = true; break;
            case TimerReport::Kind::confirmed: fate.confirmed = true; break;
        }
    }
}

/// The state of each remaining timer.
std::map<std::uint32_t, TimerState> timers_left(FileScene& scene) {
    std::map<std::uint32_t, TimerState> left;
    for (const auto state : {TimerState::pending, TimerState::fired, TimerState::dead}) {
        ListTimers page{.space = space, .state = state, .limit = 1'000};
        while (true) {
            const auto timers = scene.must(page);
            if (timers.empty()) break;
            for (const auto& timer : timers) {
                const auto number = static_cast<std::uint32_t>(std::stoul(timer.id));
                CHECK(left.emplace(number, state).second);
            }
            page.from = timers.back().at;
            page.after = timers.back().id;
        }
    }
    return left;
}

}  // namespace

TEST_CASE("after a kill at any moment, timers survive, and no timer fires or is confirmed twice") {
    const auto seed_number = seed(37);
    ROUTEMASTER_TELL_SEED(seed_number);
    Random random{seed_number};
    FileScene scene;
    scene.close();
    std::uint32_t posted = 0;
    std::uint64_t fired = 0;
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        const std::chrono::milliseconds lifetime{round % 5 == 0 ? random.below(5)
                                                                : 10 + random.below(100)};
        Fates fates;
        note(fates, reports_until_killed(scene.file, lifetime, posted));
        scene.open({.durability = Durability::relaxed});
        const auto left = timers_left(scene);
        // One more timer may have been posted without a reply.
        auto last = posted;
        for (const auto& [number, fate] : fates) last = std::max(last, number);
        const bool doubtful = left.contains(last + 1);
        if (doubtful) ++last;
        // The timers of the last take may be unreported.
        int unreported = 0;
        for (const auto& [number, fate] : fates) {
            CAPTURE(number);
            const auto found = left.find(number);
            const bool there = found != left.end();
            if (retries_of(number) == 0) {
                CHECK(fate.fired <= 1);
                CHECK_FALSE((there && fate.fired > 0));
                if (fate.posted && !there && fate.fired == 0) ++unreported;
            } else if (fate.confirmed) {
                CHECK(!there);
            } else if (!fate.confirming && fate.posted) {
                REQUIRE(there);
                if (fate.fired > 0) CHECK(found->second == TimerState::fired);
            }
            fired += static_cast<std::uint64_t>(fate.fired);
        }
        CHECK(unreported <= 20);
        for (const auto& [number, state] : left) CHECK(number <= last);
        posted = last + 1;
        // The next round begins without timers.
        for (const auto& [number, state] : left) {
            scene.must(CancelTimer{space, std::to_string(number)});
        }
        scene.close();
    }
    CHECK_MESSAGE(posted > 100, "there was next to nothing to lose");
    CHECK(fired > 100);
}
