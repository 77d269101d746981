/// @file
/// A process is killed under full load. Its acknowledged steps must survive.

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
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/random.hpp"
#include "support/seed.hpp"
#include "support/store_report.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr std::size_t publishers = 2;
constexpr std::array<const char*, 2> subscribers{"audit", "billing"};

/// Reports of the process that will be killed.
struct Report {
    enum class Kind : std::uint32_t {
        published,   ///< `who` published `number`, acknowledged.
        pushed,      ///< Job `number` was pushed, acknowledged.
        finishing,   ///< A worker is about to acknowledge job `number`.
        finished,    ///< Job `number` was acknowledged by its worker.
        delivering,  ///< Event `number` of `who` is about to be settled for `whom`.
        delivered,   ///< All events reported as `delivering` for `whom` were settled.
    };

    Kind kind;
    std::uint32_t who = 0;
    std::uint32_t whom = 0;
    std::uint32_t number = 0;
};

/// The publisher and the number of an event, from its message.
struct Numbered {
    std::size_t who;
    std::uint32_t number;

    [[nodiscard]] std::string text() const {
        return std::to_string(who) + ":" + std::to_string(number);
    }
    static Numbered of(std::string_view text) {
        return {static_cast<std::size_t>(text.front() - '0'),
                static_cast<std::uint32_t>(std::stoul(std::string{text.substr(2)}))};
    }
};

/// Whether a job has a follow-up.
bool has_follow_up(std::uint32_t job) { return job % 3 == 1; }

/// The work of the process that will be killed. An error ends the process with a different signal.
class Victim {
public:
    Victim(const std::filesystem::path& file, int reports)
        : store_{file, {.slack_max = 20'000}}, reports_{reports} {}

    [[noreturn]] void work(const std::array<std::uint32_t, publishers>& published,
                           std::uint32_t pushed) {
        std::vector<std::jthread> threads;
        for (std::size_t who = 0; who < publishers; ++who) {
            threads.emplace_back([this, who, from = published[who]] { publish(who, from); });
        }
        threads.emplace_back([this, pushed] { push(pushed); });
        threads.emplace_back([this] { finish_jobs(); });
        deliver();
    }

private:
    void publish(std::size_t who, std::uint32_t number) {
        while (true) {
            const Numbered event{who, ++number};
            must(PublishEvent{.topic = "orders",
                              .publisher = std::nullopt,
                              .message = event.text(),
                              .timestamp = now_,
                              .uid = uids_.next()});
            report({{Report::Kind::published, static_cast<std::uint32_t>(who), 0, number}});
        }
    }

    void push(std::uint32_t number) {
        while (true) {
            // A job may be nacked any number of times.
            must(PushJob{"work", std::to_string(++number), now_, {.attempts_max = 0}});
            report({{Report::Kind::pushed, 0, 0, number}});
        }
    }

    void finish_jobs() {
        const Uid worker{2, 2};
        while (true) {
            for (const auto& lease : must(AcquireJobs{"work", worker, 3}).leases) {
                const auto number = static_cast<std::uint32_t>(std::stoul(lease.job));
                // Some jobs are nacked, so that jobs are recorded more than once.
                if (number % 3 == 0) must(NackJob{lease, now_});
                if (number % 3 == 0) continue;
                report({{Report::Kind::finishing, 0, 0, number}});
                if (has_follow_up(number)) {
                    must(CompleteJob{lease, {{"next", lease.job, now_}}, {}});
                } else {
                    must(AckJob{lease});
                }
                report({{Report::Kind::finished, 0, 0, number}});
            }
        }
    }

    [[noreturn]] void deliver() {
        const Uid worker{3, 3};
        while (true) {
            for (const auto& lease : must(AcquireJobs{delivery_queue, worker, 4}).leases) {
                const auto start = must(BeginDelivery{lease, Duration{0}});
                const auto whom = static_cast<std::uint32_t>(
                    std::find(subscribers.begin(), subscribers.end(), start.subscription.token) -
                    subscribers.begin());
                std::vector<Report> delivering;
                for (const auto message : start.messages) {
                    const auto event = Numbered::of(message);
                    delivering.push_back({Report::Kind::delivering,
                                          static_cast<std::uint32_t>(event.who), whom,
                                          event.number});
                }
                report(delivering);
                must(SettleDelivery{.lease = lease, .delivered = true, .begun_at = now_});
                report({{Report::Kind::delivered, 0, whom, 0}});
            }
        }
    }

    template <class S>
    typename S::Reply must(S step) {
        return perform(store_, std::move(step), now_).value();
    }

    /// Written without a buffer: data in the pipe survives the process.
    void report(const std::vector<Report>& reports) const {
        const auto size = reports.size() * sizeof(Report);
        if (::write(reports_, reports.data(), size) != static_cast<ssize_t>(size)) std::abort();
    }

    EmbeddedStore store_;
    int reports_;
    TimePoint now_ = from_milliseconds(1'700'000'000'000);
    UidSource uids_{entropy(), entropy()};
};

/// The expected contents, according to the reports.
struct Expected {
    /// Events of one publisher for one subscriber, in order: all up to `settled` are delivered, and
    /// events up to `doubtful` may be delivered.
    struct Stream {
        std::uint32_t settled = 0;
        std::uint32_t doubtful = 0;
    };

    std::array<std::uint32_t, publishers> published{};  // The last acknowledged event.
    std::array<std::array<Stream, publishers>, subscribers.size()> streams{};
    std::uint32_t pushed = 0;
    std::uint32_t checked = 0;               // The last job pushed before this round.
    std::set<std::uint32_t> jobs;            // Pushed, and not being finished.
    std::set<std::uint32_t> finishing;       // May exist or not.
    std::set<std::uint32_t> finished_early;  // Reported by their worker before the report of their
                                             // push.

    void take(const Report& report) {
        switch (report.kind) {
            case Report::Kind::published: published[report.who] = report.number; return;
            case Report::Kind::pushed:
                pushed = report.number;
                if (!finished_early.erase(report.number)) jobs.insert(report.number);
                return;
            case Report::Kind::finishing:
                if (!jobs.erase(report.number)) finished_early.insert(report.number);
                finishing.insert(report.number);
                return;
            case Report::Kind::finished: finishing.erase(report.number); return;
            case Report::Kind::delivering:
                streams[report.whom][report.who].doubtful = report.number;
                return;
            case Report::Kind::delivered:
                for (auto& stream : streams[report.whom]) stream.settled = stream.doubtful;
                return;
        }
    }
};

/// Works until the process is killed. No exception may return to the test.
[[noreturn]] void be_victim(const std::filesystem::path& file, int reports,
                            const Expected& expected) noexcept {
    Victim{file, reports}.work(expected.published, expected.pushed);
}

/// Lets a process work on the file for a while, kills it, and reads all its reports.
void work_and_die(const std::filesystem::path& file, std::chrono::milliseconds lifetime,
                  Expected& expected) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const auto [reading, writing] = ends;
    const pid_t victim = ::fork();
    if (victim == 0) {
        ::close(reading);
        be_victim(file, writing, expected);
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
    REQUIRE(bytes.size() % sizeof(Report) == 0);
    for (std::size_t place = 0; place < bytes.size(); place += sizeof(Report)) {
        Report report;
        std::memcpy(&report, bytes.data() + place, sizeof report);
        expected.take(report);
    }
}

/// Checks that the remaining events of each publisher continue without a gap after the delivered
/// events, up to the last acknowledged event or the one after it. Returns the last event of each
/// publisher.
std::array<std::uint32_t, publishers> check_events(const std::vector<std::string>& messages,
                                                   const Expected& expected, std::size_t whom) {
    std::array<std::uint32_t, publishers> last{};
    for (std::size_t who = 0; who < publishers; ++who) {
        CAPTURE(who);
        const auto& stream = expected.streams[whom][who];
        std::vector<std::uint32_t> left;
        for (const auto& message : messages) {
            const auto event = Numbered::of(message);
            if (event.who == who) left.push_back(event.number);
        }
        if (left.empty()) {
            last[who] = stream.doubtful;
        } else {
            const bool goes_on =
                left.front() == stream.settled + 1 || left.front() == stream.doubtful + 1;
            CHECK_MESSAGE(goes_on, left.front() << " follows " << stream.settled);
            for (std::size_t i = 1; i < left.size(); ++i) REQUIRE(left[i] == left[i - 1] + 1);
            last[who] = left.back();
        }
        CHECK(last[who] >= expected.published[who]);
        CHECK(last[who] <= expected.published[who] + 1);
    }
    return last;
}

std::int64_t counter(FileScene& scene, const CounterKey& key) {
    for (const auto& counter : scene.must(ListCounters{})) {
        if (counter.key == key) return counter.value;
    }
    return 0;
}

/// Checks the counters of a subscriber against the total of published events.
void check_counters(FileScene& scene, const char* token, std::uint32_t published) {
    const CounterKey added{"events.added", {{"queue", token}}};
    const CounterKey removed{"events.removed", {{"queue", token}}};
    CHECK(counter(scene, added) == published);
    CHECK(counter(scene, added) - counter(scene, removed) ==
          static_cast<std::int64_t>(scene.status(token).events_queued));
}

/// Does all jobs of a queue. Returns their numbers.
std::set<std::uint32_t> take_jobs(FileScene& scene, const std::string& queue) {
    std::set<std::uint32_t> found;
    // Due jobs are promoted in chunks.
    for (std::vector<Lease> leases;;) {
        leases = scene.must(AcquireJobs{queue, scene.worker, 1'000}).leases;
        if (leases.empty()) return found;
        for (const auto& lease : leases) {
            const auto number = static_cast<std::uint32_t>(std::stoul(lease.job));
            CHECK_MESSAGE(found.insert(number).second, "job " << number << " is there twice");
            scene.must(AckJob{lease});
        }
    }
}

void check_jobs(FileScene& scene, Expected& expected) {
    const auto found = take_jobs(scene, "work");
    const auto followed = take_jobs(scene, "next");
    for (const auto number : expected.jobs) CHECK(found.contains(number));
    for (const auto number : found) {
        const bool may_be = expected.jobs.contains(number) || expected.finishing.contains(number) ||
                            number == expected.pushed + 1;
        CHECK_MESSAGE(may_be, "job " << number << " was finished, or never pushed");
        expected.pushed = std::max(expected.pushed, number);
    }
    if (!followed.empty()) expected.pushed = std::max(expected.pushed, *followed.rbegin());
    for (auto number = expected.checked + 1; number <= expected.pushed; ++number) {
        if (!has_follow_up(number)) continue;
        CHECK_MESSAGE(found.contains(number) != followed.contains(number),
                      "of job " << number << " and what follows from it there must be one");
    }
    expected.checked = expected.pushed;
    expected.jobs.clear();
    expected.finishing.clear();
    expected.finished_early.clear();
}

/// Opens the file that the killed process left, checks the contents, and finishes all work.
void check_what_is_left(FileScene& scene, Expected& expected) {
    scene.open({.durability = Durability::relaxed});
    check_gauges(*scene.store, scene.now);
    const auto events = scene.must(ListTopics{}).at(0).events;
    for (const char* token : subscribers) {
        check_counters(scene, token, static_cast<std::uint32_t>(events));
    }
    const auto left = deliver_all(*scene.store, scene.now);
    std::array<std::uint32_t, publishers> last{};
    for (std::size_t whom = 0; whom < subscribers.size(); ++whom) {
        CAPTURE(whom);
        const auto found = left.find(subscribers[whom]);
        last = check_events(found == left.end() ? std::vector<std::string>{} : found->second,
                            expected, whom);
        CHECK(events == last[0] + last[1]);
    }
    expected.published = last;
    for (auto& streams : expected.streams) {
        for (std::size_t who = 0; who < publishers; ++who) streams[who] = {last[who], last[who]};
    }
    check_jobs(scene, expected);
    check_gauges(*scene.store, scene.now);
    scene.close();
}

}  // namespace

TEST_CASE("acknowledged steps survive a kill of the process at any moment") {
    const auto number = seed(31);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    FileScene scene;
    for (const char* token : subscribers) scene.subscribe(token, 5);
    scene.close();
    Expected expected;
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        // Some processes are killed while they open the file.
        const std::chrono::milliseconds lifetime{round % 5 == 0 ? random.below(5)
                                                                : 10 + random.below(100)};
        work_and_die(scene.file, lifetime, expected);
        check_what_is_left(scene, expected);
    }
    CHECK_MESSAGE(expected.published[0] > 100, "there was next to nothing to lose");
    CHECK(expected.pushed > 100);
}
