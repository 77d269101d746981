#include "routemaster/timer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "threads.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {
namespace {

constexpr Duration second{1'000};

using Ids = std::vector<std::string>;

void post(const Scenario& s, const std::string& id, Duration delay, std::uint32_t retries_max = 0,
          Where at = Where::here()) {
    expect_equal(s.perform(post_of(s, id, delay, retries_max), at), TimerPosted::posted,
                 "posting " + id, at);
}

TakenTimers take(const Scenario& s, std::uint32_t limit = taken_timers_max,
                 const std::string& listener = "ear", Where at = Where::here()) {
    return s.perform(TakeTimers{.space = timer_space, .listener = listener, .limit = limit}, at);
}

Ids ids_of(const TakenTimers& taken) {
    Ids ids;
    for (const auto& timer : taken.timers) ids.push_back(timer.id);
    return ids;
}

Ids take_ids(const Scenario& s, std::uint32_t limit = taken_timers_max,
             const std::string& listener = "ear", Where at = Where::here()) {
    return ids_of(take(s, limit, listener, at));
}

std::vector<TimerStatus> listed(const Scenario& s, TimerState state = TimerState::pending) {
    return s.perform(ListTimers{.space = timer_space, .state = state, .limit = 1'000});
}

Ids listed_ids(const std::vector<TimerStatus>& timers) {
    Ids ids;
    for (const auto& timer : timers) ids.push_back(timer.id);
    return ids;
}

TimerStatus found(const Scenario& s, const std::string& id, Where at = Where::here()) {
    auto timer = s.perform(FindTimer{timer_space, id}, at);
    expect(timer.has_value(), "there is no timer " + id, at);
    return *std::move(timer);
}

TimerConfirmed confirm(const Scenario& s, const std::string& id,
                       std::optional<std::uint32_t> retries = std::nullopt) {
    return s.perform(ConfirmTimer{timer_space, id, retries});
}

TimerCounts counts(const Scenario& s) { return s.perform(CountTimers{timer_space}); }

/// Lets all timers that are due fire, and come back or die.
void let_fire(Scenario& s) {
    while (!take(s).timers.empty()) continue;
    s.advance(Duration{10'000});
    take(s);
}

/// A listener that is told when it is woken.
class Ear {
public:
    Ear(Scenario& scenario, std::string name)
        : s_{scenario},
          name_{std::move(name)},
          watch_{s_.store().watch(timer_watch(timer_space, name_), [this] { woken_.raise(); })} {
        // A store that listens to another process does so by now.
        ask();
    }

    /// Asks for timers, having noted how often it was woken before.
    TakenTimers ask(std::uint32_t limit = taken_timers_max, Where at = Where::here()) {
        seen_ = woken_.count();
        return take(s_, limit, name_, at);
    }

    /// Expects that it was woken since it asked.
    void expect_woken(const std::string& by, Where at = Where::here()) {
        expect(woken_.wait_beyond(seen_, s_.traits().timeout), name_ + " was not woken by " + by,
               at);
    }

    void leave() { s_.perform(LeaveTimers{timer_space, name_}); }

private:
    Scenario& s_;
    std::string name_;
    Signal woken_;
    std::uint64_t seen_ = 0;
    Watch watch_;
};

void add_firing_cases(StoreCases& add) {
    add("a timer fires when it is due, and not one millisecond sooner", [](Scenario& s) {
        post(s, "a", second);
        const auto due = s.now() + second;
        expect_equal(take(s).wake_at, due, "when to ask");
        s.advance(Duration{999});
        expect_equal(take(s), TakenTimers{{}, due}, "taken a millisecond before");
        s.advance(Duration{1});
        const auto taken = take(s);
        expect_equal(
            taken.timers,
            std::vector<FiredTimer>{{.id = "a", .payload = encode(Value{"a"}), .due_at = due}},
            "taken when it is due");
        expect_equal(taken.wake_at, never, "when to ask then");
        expect(!exists(s, "a"), "a timer without retries is gone when it fired");
        expect_equal(take(s), TakenTimers{}, "taken again");
    });

    add("timers fire in the order in which they are due, and equals by their ids", [](Scenario& s) {
        for (const char* id : {"b", "B", "\xc3\xa9", "a", "~", "aa"}) post(s, id, second);
        post(s, "later", second + Duration{1});
        post(s, "sooner", second - Duration{1});
        s.advance(2 * second);
        const auto first = take(s, 3);
        expect_equal(ids_of(first), Ids{"sooner", "B", "a"}, "the first three");
        expect_equal(first.wake_at, s.now(), "when to ask while more is due");
        expect_equal(take_ids(s), Ids{"aa", "b", "~", "\xc3\xa9", "later"}, "the others");
    });

    add("a timer keeps its payload, whatever that is", [](Scenario& s) {
        const std::vector<Value> payloads{
            Value{},
            Value{true},
            Value{-7},
            Value{std::numeric_limits<std::int64_t>::min()},
            Value{std::numeric_limits<std::uint64_t>::max()},
            Value{1.5},
            Value{""},
            Value{"\xc3\xa9\n\"\\ \xe2\x82\xac"},
            Value{Value::Array{}},
            Value{Value::Map{}},
            Value{Value::Array{1, Value::Array{}, Value{}, "x"}},
            Value{Value::Map{{"id", "mine"}, {"maxRetries", 7}, {"", Value::Map{{"z", 0.25}}}}},
            Value{std::string(60'000, 'x')}};
        for (std::size_t i = 0; i < payloads.size(); ++i) {
            const auto id = "timer " + std::to_string(i);
            s.perform(PostTimer{.space = timer_space,
                                .id = id,
                                .payload = encode(payloads[i]),
                                .due_at = s.now(),
                                .retries_max = 1});
            expect(found(s, id).payload == payloads[i], "the payload of " + id);
            const auto taken = take(s);
            expect_equal(taken.timers.at(0).payload, encode(payloads[i]), "the payload that fired");
            s.advance(Duration{10'000});
            const auto again = take(s);
            expect_equal(again.timers.at(0).payload, encode(payloads[i]), "the second time");
            expect_equal(confirm(s, id), TimerConfirmed::confirmed, "confirming");
        }
    });

    add("a timer with retries fires again until it is confirmed, and then never again",
        [](Scenario& s) {
            post(s, "a", Duration{0}, 2);
            const auto first = take(s).timers.at(0);
            const auto confirm_by = s.now() + Duration{10'000};
            expect_equal(first,
                         FiredTimer{.id = "a",
                                    .payload = encode(Value{"a"}),
                                    .due_at = s.now(),
                                    .retries = 0,
                                    .retries_max = 2,
                                    .confirm_by = confirm_by,
                                    .firing = first.firing},
                         "the first firing");
            const auto status = found(s, "a");
            expect_equal(status.state, TimerState::fired, "its state");
            expect_equal(status.at, confirm_by, "when it is due again");
            expect_equal(take(s), TakenTimers{{}, confirm_by}, "taken meanwhile");
            s.advance(Duration{9'999});
            expect_equal(take(s), TakenTimers{{}, confirm_by}, "taken a millisecond before");
            s.advance(Duration{5'000});
            const auto second_time = take(s).timers.at(0);
            expect_equal(second_time.retries, 1U, "retries of the second firing");
            expect_equal(second_time.due_at, confirm_by, "when the second firing was due");
            expect_equal(confirm(s, "a", 0), TimerConfirmed::unknown, "confirming the first one");
            expect_equal(confirm(s, "a", 1), TimerConfirmed::confirmed, "confirming the second");
            expect_equal(confirm(s, "a", 1), TimerConfirmed::unknown, "confirming it again");
            expect(!exists(s, "a"), "a timer that was confirmed is gone");
            s.advance(Duration{100'000});
            expect_equal(take(s), TakenTimers{}, "taken much later");
        });

    add("a late confirmation counts as long as the timer did not come back", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        take(s);
        s.advance(Duration{20'000});
        expect_equal(confirm(s, "a", 0), TimerConfirmed::confirmed, "confirming");
        expect_equal(take(s), TakenTimers{}, "taken then");
    });

    add("a timer says how long its confirmation may take, else its listener does", [](Scenario& s) {
        auto own = post_of(s, "own", Duration{0}, 1);
        own.confirm_within = Duration{300};
        s.perform(own);
        post(s, "plain", Duration{0}, 1);
        const auto taken = s.perform(TakeTimers{
            .space = timer_space, .listener = "ear", .limit = 8, .confirm_within = Duration{700}});
        expect_equal(taken.timers.at(0).confirm_by, s.now() + Duration{300}, "of its own");
        expect_equal(taken.timers.at(1).confirm_by, s.now() + Duration{700}, "of the listener");
        expect_equal(taken.wake_at, s.now() + Duration{300}, "when to ask");
    });

    add("what comes back fires among the others, in the order in which it was due", [](Scenario&
                                                                                           s) {
        post(s, "back", Duration{0}, 1);
        take(s);
        post(s, "before", Duration{9'999});
        post(s, "b equal", Duration{10'000});
        post(s, "a equal", Duration{10'000});
        post(s, "behind", Duration{10'001});
        s.advance(Duration{20'000});
        expect_equal(take_ids(s), Ids{"before", "a equal", "b equal", "back", "behind"}, "taken");
    });

    add("of eight listeners at once, one gets a timer", [](Scenario& s) {
        constexpr int timers = 200;
        for (int i = 0; i < timers; ++i) {
            post(s, std::to_string(i), Duration{i % 10}, static_cast<std::uint32_t>(i % 2));
        }
        s.advance(second);
        std::mutex mutex;  // Guards `fired`.
        std::multiset<std::string> fired;
        in_threads(8, [&](unsigned thread) {
            while (true) {
                const auto taken = take(s, 3, "ear" + std::to_string(thread));
                if (taken.timers.empty()) return;
                const std::lock_guard lock{mutex};
                for (const auto& timer : taken.timers) fired.insert(timer.id);
            }
        });
        expect_equal(fired.size(), std::size_t{timers}, "firings");
        for (int i = 0; i < timers; ++i) {
            expect_equal(fired.count(std::to_string(i)), std::size_t{1}, "firings of one");
        }
    });

    add("while four threads post and four take, each timer fires once", [](Scenario& s) {
        constexpr int each = 100;
        std::atomic<int> posted = 0;
        std::mutex mutex;  // Guards `fired`.
        std::multiset<std::string> fired;
        in_threads(8, [&](unsigned thread) {
            if (thread < 4) {
                for (int i = 0; i < each; ++i) {
                    post(s, std::to_string(thread) + ":" + std::to_string(i), Duration{0});
                    ++posted;
                }
                return;
            }
            while (true) {
                const bool last = posted == 4 * each;
                const auto taken = take(s, 5, "ear" + std::to_string(thread));
                const std::lock_guard lock{mutex};
                for (const auto& timer : taken.timers) fired.insert(timer.id);
                if (last && taken.timers.empty()) return;
            }
        });
        expect_equal(fired.size(), std::size_t{4 * each}, "firings");
        expect_equal(std::set<std::string>(fired.begin(), fired.end()).size(),
                     std::size_t{4 * each}, "timers that fired");
    });

    add("many that are due at once are taken in slices, in their order", [](Scenario& s) {
        constexpr int timers = 2'500;
        for (int i = 0; i < timers; ++i) {
            // Posted in another order than they are due.
            post(s, std::to_string(100'000 + i), Duration{(i * 7) % 50});
        }
        s.advance(second);
        std::vector<std::pair<TimePoint, std::string>> fired;
        while (true) {
            const auto taken = take(s);
            if (taken.timers.empty()) break;
            expect(taken.timers.size() <= taken_timers_max, "a slice is bounded");
            for (const auto& timer : taken.timers) fired.emplace_back(timer.due_at, timer.id);
            const bool done = fired.size() == timers;
            expect_equal(taken.wake_at, done ? never : s.now(), "when to ask");
        }
        expect_equal(fired.size(), std::size_t{timers}, "firings");
        expect(std::is_sorted(fired.begin(), fired.end()), "they fire in their order");
    });

    add("a clock that is set back fires nothing twice and nothing too soon, and a step forward "
        "fires what is late in order",
        [](Scenario& s) {
            post(s, "once", Duration{0});
            post(s, "again", Duration{0}, 1);
            post(s, "later", second);
            expect_equal(take_ids(s), Ids{"again", "once"}, "taken");
            const auto confirm_by = s.now() + Duration{10'000};
            s.advance(Duration{-3'600'000});
            expect_equal(take_ids(s), Ids{}, "taken after the clock was set back");
            expect_equal(found(s, "again").at, confirm_by, "when it is due again");
            post(s, "new", second);
            s.advance(second);
            expect_equal(take_ids(s), Ids{"new"}, "a timer by the new time");
            s.advance(Duration{7'200'000});
            expect_equal(take_ids(s), Ids{"later", "again"}, "taken after a step forward");
            expect_equal(confirm(s, "again", 1), TimerConfirmed::confirmed, "confirming");
            expect_equal(take_ids(s), Ids{}, "taken then");
        });
}

void add_change_cases(StoreCases& add) {
    add("a timer that is posted again is replaced, whatever its state", [](Scenario& s) {
        post(s, "a", second, 1);
        auto other = post_of(s, "a", 2 * second, 1);
        other.payload = encode(Value{"other"});
        expect_equal(s.perform(other), TimerPosted::replaced, "posting it while PENDING");
        expect_equal(listed(s).size(), std::size_t{1}, "timers");
        s.advance(second);
        expect_equal(take_ids(s), Ids{}, "the old time counts no more");
        s.advance(second);
        expect_equal(take(s).timers.at(0).payload, encode(Value{"other"}), "its payload");

        expect_equal(s.perform(post_of(s, "a", second, 1)), TimerPosted::replaced,
                     "posting it while FIRED");
        expect_equal(confirm(s, "a", 0), TimerConfirmed::unknown, "the former firing");
        expect_equal(found(s, "a").state, TimerState::pending, "its state");
        s.advance(second);
        let_fire(s);
        s.advance(Duration{10'000});
        take(s);
        expect_equal(found(s, "a").state, TimerState::dead, "its state in the end");

        expect_equal(s.perform(post_of(s, "a", second)), TimerPosted::replaced,
                     "posting it while DEAD");
        expect_equal(listed(s, TimerState::dead).size(), std::size_t{0}, "DEAD timers");
        const auto status = found(s, "a");
        expect_equal(status.retries, 0U, "retries");
        expect_equal(status.retries_max, 0U, "retries that it may have");
        s.advance(second);
        expect_equal(take_ids(s), Ids{"a"}, "taken");
        expect_equal(s.perform(post_of(s, "a", second)), TimerPosted::posted,
                     "posting it when it is gone");
    });

    add("a timer that is cancelled fires no more", [](Scenario& s) {
        const CancelTimer cancel{timer_space, "a"};
        expect_equal(s.perform(cancel), Removal::unknown, "cancelling what is not there");
        post(s, "a", second);
        expect_equal(s.perform(cancel), Removal::removed, "cancelling it while PENDING");
        expect_equal(s.perform(cancel), Removal::unknown, "cancelling it again");
        post(s, "a", Duration{0}, 1);
        take(s);
        expect_equal(s.perform(cancel), Removal::removed, "cancelling it while FIRED");
        expect_equal(confirm(s, "a"), TimerConfirmed::unknown, "confirming it");
        s.advance(Duration{100'000});
        expect_equal(take(s), TakenTimers{}, "taken");
        expect_equal(counts(s).pending + counts(s).fired + counts(s).dead, std::uint64_t{0},
                     "timers");
    });

    add("a FIRED timer that is given up is DEAD, whatever retries are left", [](Scenario& s) {
        const auto give_up = [&](std::optional<std::uint32_t> retries = {},
                                 std::optional<std::int64_t> firing = {}) {
            return s.perform(GiveUpTimer{timer_space, "a", retries, firing}).value;
        };
        expect_equal(give_up(), std::uint64_t{0}, "giving up what is not there");
        post(s, "a", Duration{0}, 5);
        expect_equal(give_up(), std::uint64_t{0}, "giving it up while PENDING");
        const auto firing = take(s).timers.at(0).firing;
        expect_equal(give_up(1U), std::uint64_t{0}, "giving up another firing");
        expect_equal(give_up(0U, firing + 1), std::uint64_t{0}, "giving up a later firing");
        expect_equal(found(s, "a").state, TimerState::fired, "its state");
        expect_equal(give_up(0U, firing), std::uint64_t{1}, "giving it up");
        expect_equal(give_up(0U, firing), std::uint64_t{0}, "repeating it");
        const auto dead = found(s, "a");
        expect_equal(dead.state, TimerState::dead, "its state then");
        expect_equal(dead.at, s.now(), "when it died");
        expect_equal(confirm(s, "a"), TimerConfirmed::unknown, "confirming it");
        s.advance(Duration{100'000});
        expect_equal(take_ids(s), Ids{}, "taken");
        s.perform(RepostDeadTimers{timer_space, "a", s.now()});
        expect_equal(take_ids(s), Ids{"a"}, "taken when it was reposted");
        s.expect_refused(GiveUpTimer{"no space", "a"}, "space");
    });

    add("only a PENDING timer can be postponed", [](Scenario& s) {
        const auto postpone = [&](Duration delay) {
            return s.perform(PostponeTimer{timer_space, "a", s.now() + delay}).value;
        };
        expect_equal(postpone(second), std::uint64_t{0}, "postponing what is not there");
        post(s, "a", second, 1);
        expect_equal(postpone(2 * second), std::uint64_t{1}, "postponing it");
        expect_equal(found(s, "a").at, s.now() + 2 * second, "when it is due");
        expect_equal(postpone(Duration{1}), std::uint64_t{1}, "having it sooner");
        expect_equal(take(s).wake_at, s.now() + Duration{1}, "when to ask");
        expect_equal(postpone(Duration{1}), std::uint64_t{1}, "repeating it");
        s.advance(Duration{1});
        expect_equal(take_ids(s), Ids{"a"}, "taken");
        expect_equal(postpone(second), std::uint64_t{0}, "postponing it while FIRED");
        s.advance(Duration{10'000});
        take(s, 0);
        expect_equal(found(s, "a").state, TimerState::pending, "a timer that came back");
        expect_equal(postpone(second), std::uint64_t{1}, "postponing it then");
        expect_equal(take_ids(s), Ids{}, "taken before");
        s.advance(second);
        expect_equal(take(s).timers.at(0).retries, 1U, "retries of the next firing");
    });

    add("timers are listed by their time and id, in pages", [](Scenario& s) {
        const auto start = s.now();
        for (int i = 0; i < 30; ++i) {
            post(s, std::to_string(100 + i), Duration{1'000 + i / 10});
        }
        post(s, "dead", Duration{0}, 1);
        Ids all;
        ListTimers page{.space = timer_space, .limit = 7};
        while (true) {
            const auto some = s.perform(page);
            if (some.empty()) break;
            for (const auto& timer : some) all.push_back(timer.id);
            page.from = some.back().at;
            page.after = some.back().id;
        }
        expect_equal(all.size(), std::size_t{31}, "timers");
        expect_equal(all.front(), std::string{"dead"}, "the first");
        expect(std::is_sorted(all.begin() + 1, all.end()), "they are in their order");
        const auto between = s.perform(ListTimers{.space = timer_space,
                                                  .from = start + Duration{1'001},
                                                  .until = start + Duration{1'001}});
        expect_equal(between.size(), std::size_t{10}, "timers of one millisecond");
        expect_equal(between.front().id, std::string{"110"}, "the first of them");
        const auto after = s.perform(ListTimers{
            .space = timer_space, .from = start + Duration{1'001}, .after = "118", .limit = 2});
        expect_equal(listed_ids(after), Ids{"119", "120"}, "those behind one");
        const auto gone = s.perform(ListTimers{
            .space = timer_space, .from = start + Duration{1'001}, .after = "1185", .limit = 1});
        expect_equal(listed_ids(gone), Ids{"119"}, "those behind one that is not there");
        take(s);
        expect_equal(listed_ids(listed(s, TimerState::fired)), Ids{"dead"}, "FIRED ones");
        expect_equal(listed(s, TimerState::dead).size(), std::size_t{0}, "DEAD ones");
        expect_equal(s.perform(ListTimers{.space = "other"}).size(), std::size_t{0},
                     "those of another namespace");
    });

    add("a namespace is counted", [](Scenario& s) {
        expect_equal(counts(s), TimerCounts{}, "an empty namespace");
        post(s, "a", second);
        post(s, "b", 2 * second);
        post(s, "c", Duration{0}, 1);
        Ear ear{s, "ear"};
        expect_equal(
            counts(s),
            TimerCounts{
                .pending = 2, .fired = 1, .dead = 0, .listeners = 1, .next_due = s.now() + second},
            "three timers");
        ear.leave();
        expect_equal(counts(s).listeners, std::uint64_t{0}, "listeners when it left");
    });

    add("namespaces know nothing of each other", [](Scenario& s) {
        auto there = post_of(s, "a", Duration{0}, 1);
        there.space = "other";
        s.perform(there);
        post(s, "a", Duration{0}, 1);
        expect_equal(take_ids(s), Ids{"a"}, "taken here");
        expect_equal(confirm(s, "a"), TimerConfirmed::confirmed, "confirming here");
        expect_equal(take(s), TakenTimers{}, "taken here again");
        expect_equal(s.perform(CountTimers{"other"}).pending, std::uint64_t{1}, "timers there");
        expect_equal(s.perform(CancelTimer{"other", "a"}), Removal::removed, "cancelling there");
    });
}

void add_dead_cases(StoreCases& add) {
    add("a timer that nobody confirms is given up, kept, and can be posted again", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        post(s, "b", Duration{0}, 2);
        take(s);
        s.advance(Duration{10'000});
        take(s);
        s.advance(Duration{10'500});
        // Busy listeners find out, too.
        expect_equal(take_ids(s, 0), Ids{}, "taken by a busy listener");
        const auto dead = listed(s, TimerState::dead);
        expect_equal(dead,
                     std::vector<TimerStatus>{{.id = "a",
                                               .payload = Value{"a"},
                                               .state = TimerState::dead,
                                               .at = s.now(),
                                               .retries = 1,
                                               .retries_max = 1}},
                     "DEAD timers");
        expect_equal(take_ids(s), Ids{"b"}, "what comes back");
        expect_equal(s.perform(CancelTimer{timer_space, "a"}), Removal::unknown,
                     "cancelling a DEAD timer");
        expect_equal(confirm(s, "a"), TimerConfirmed::unknown, "confirming it");
        const RepostDeadTimers repost{timer_space, "a", s.now() + second};
        expect_equal(s.perform(repost), Count{1}, "posting it again");
        expect_equal(s.perform(repost), Count{0}, "posting it once more");
        expect_equal(found(s, "a").retries, 0U, "its retries");
        s.advance(second);
        const auto fired = take(s).timers.at(0);
        expect_equal(fired,
                     FiredTimer{.id = "a",
                                .payload = encode(Value{"a"}),
                                .due_at = s.now(),
                                .retries = 0,
                                .retries_max = 1,
                                .confirm_by = s.now() + Duration{10'000},
                                .firing = fired.firing},
                     "what fires then");
    });

    add("a confirmation settles no firing of a timer that was posted again", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        const auto first = take(s).timers.at(0);
        s.advance(Duration{1});
        expect_equal(s.perform(post_of(s, "a", Duration{0}, 1)), TimerPosted::replaced,
                     "posting it again");
        const auto other = take(s).timers.at(0);
        expect_equal(other.retries, first.retries, "retries of both");
        const auto confirm_firing = [&](const FiredTimer& timer) {
            return s.perform(ConfirmTimer{timer_space, "a", timer.retries, timer.firing});
        };
        expect_equal(confirm_firing(first), TimerConfirmed::unknown, "confirming the first");
        CompleteTimer complete{.space = timer_space, .id = "a", .firing = first.firing};
        complete.pushes.push_back({.queue = "work", .job = "x", .run_at = s.now()});
        expect_equal(s.perform(complete).confirmation, TimerConfirmed::unknown, "completing it");
        expect_equal(s.perform(CountJobs{"work"}).ready, std::uint64_t{0}, "jobs that follow");
        expect(exists(s, "a"), "the timer that was posted again is there");
        expect_equal(confirm_firing(other), TimerConfirmed::confirmed, "confirming the second");
    });

    add("no timer has an empty id, and so none is meant by it", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        let_fire(s);
        let_fire(s);
        s.expect_refused(RepostDeadTimers{timer_space, "", s.now()}, "id");
        s.expect_refused(DropDeadTimers{timer_space, ""}, "id");
        expect_equal(counts(s).dead, std::uint64_t{1}, "DEAD timers");
    });

    add("all DEAD timers can be posted again, or dropped", [](Scenario& s) {
        const auto die = [&] {
            for (const char* id : {"a", "b", "c"}) s.perform(post_of(s, id, Duration{0}, 1));
            let_fire(s);
            let_fire(s);
            expect_equal(counts(s).dead, std::uint64_t{3}, "DEAD timers");
        };
        die();
        expect_equal(s.perform(DropDeadTimers{timer_space, "b"}), Count{1}, "dropping one");
        expect_equal(s.perform(DropDeadTimers{timer_space, "b"}), Count{0}, "dropping it again");
        const RepostDeadTimers all{timer_space, {}, s.now()};
        expect_equal(s.perform(all), Count{2}, "posting all again");
        expect_equal(s.perform(all), Count{0}, "posting all again, once more");
        expect_equal(take_ids(s), Ids{"a", "c"}, "taken");
        die();
        expect_equal(s.perform(DropDeadTimers{timer_space}), Count{3}, "dropping all");
        expect_equal(s.perform(DropDeadTimers{timer_space}), Count{0}, "dropping all again");
        expect(!exists(s, "a"), "what was dropped is gone");
        expect_equal(s.perform(DropDeadTimers{"other"}), Count{0}, "in another namespace");
        expect_equal(s.perform(RepostDeadTimers{"other", {}, s.now()}), Count{0},
                     "in another namespace");
    });

    add("of too many DEAD timers those that died first are forgotten, and counted",
        [](Scenario& s) {
            constexpr int more = 3;
            const auto dead = static_cast<int>(dead_timers_max);
            for (int i = 0; i < dead + more; ++i) {
                // The three that are due first die first.
                post(s, std::to_string(100'000 + i), i < more ? Duration{0} : 100 * second, 1);
            }
            take(s, 3);
            s.advance(Duration{10'000});
            take(s, 3);
            s.advance(Duration{10'000});
            take(s, 0);
            expect_equal(counts(s).dead, std::uint64_t{more}, "DEAD timers");
            while (counts(s).dead < dead_timers_max || counts(s).fired + counts(s).pending > 0) {
                take(s);
                s.advance(Duration{10'000});
            }
            const auto kept = listed(s, TimerState::dead);
            expect_equal(kept.size(), std::size_t{dead_timers_max}, "DEAD timers in the end");
            expect_equal(kept.front().id, std::to_string(100'000 + more), "the first of them");
            expect_equal(s.counter({"timers.forgotten", {{"namespace", timer_space}}}),
                         std::optional<std::int64_t>{more}, "forgotten timers");
        });
}

void add_turn_cases(StoreCases& add) {
    add("a timer that is due sooner than a listener was told wakes it", [](Scenario& s) {
        Ear ear{s, "ear"};
        post(s, "a", 10 * second);
        ear.expect_woken("a post");
        expect_equal(ear.ask().wake_at, s.now() + 10 * second, "when to ask");
        post(s, "b", 5 * second);
        ear.expect_woken("a post for sooner");
        ear.ask();
        s.perform(PostponeTimer{timer_space, "a", s.now() + second});
        ear.expect_woken("having it sooner");
        ear.ask();
        s.perform(post_of(s, "b", Duration{0}));
        ear.expect_woken("a post that replaces another");
        expect_equal(ids_of(ear.ask()), Ids{"b"}, "taken");
    });

    add("listeners take turns: when one took something, the next one is woken for the next timer",
        [](Scenario& s) {
            Ear one{s, "one"};
            Ear two{s, "two"};
            Ear three{s, "three"};
            std::vector<Ear*> turns{&one, &two, &three};
            for (int i = 0; i < 7; ++i) post(s, std::to_string(i), Duration{100 + 10 * i});
            s.advance(Duration{90});
            for (int i = 0; i < 7; ++i) {
                auto& ear = *turns[static_cast<std::size_t>(i) % 3];
                ear.expect_woken("its turn");
                expect_equal(ear.ask().wake_at, s.now() + Duration{10}, "when to ask");
                s.advance(Duration{10});
                expect_equal(ids_of(ear.ask()), Ids{std::to_string(i)}, "taken");
            }
        });

    add("a listener whose turn it is not asks in time when the other one is gone", [](Scenario& s) {
        Ear gone{s, "gone"};
        Ear ear{s, "ear"};
        post(s, "a", second);
        gone.expect_woken("a post");
        gone.ask();
        const auto wake_at = ear.ask().wake_at;
        expect(wake_at > s.now() + second, "it is not its turn");
        expect(wake_at <= s.now() + second + timer_listener_silence, "it asks in time");
        s.advance(second + timer_listener_silence);
        expect_equal(ids_of(ear.ask()), Ids{"a"}, "taken");
        post(s, "b", second);
        ear.expect_woken("the next timer");
        expect_equal(ear.ask().wake_at, s.now() + second, "when to ask");
    });

    add("who finds the other one late asks again when that is gone", [](Scenario& s) {
        Ear gone{s, "gone"};
        Ear ear{s, "ear"};
        post(s, "a", second);
        gone.expect_woken("a post");
        gone.ask();
        ear.ask();
        post(s, "b", 2 * second);
        s.advance(second + timer_listener_silence - Duration{1});
        expect_equal(ids_of(ear.ask()), Ids{"a"}, "taken out of turn");
        post(s, "c", Duration{1});
        expect_equal(ear.ask().wake_at, s.now() + Duration{1}, "when the other one is gone");
        s.advance(Duration{1});
        expect_equal(ids_of(ear.ask()), (Ids{"b", "c"}), "taken");
    });

    add("when a listener leaves, or is busy, the next one has its turn", [](Scenario& s) {
        Ear one{s, "one"};
        Ear two{s, "two"};
        post(s, "a", second);
        one.expect_woken("a post");
        one.ask();
        two.ask();
        one.leave();
        two.expect_woken("the end of the other one");
        expect_equal(two.ask().wake_at, s.now() + second, "when to ask");
        one.ask();
        expect_equal(two.ask(0), TakenTimers{}, "taken by a busy listener");
        one.expect_woken("the other one being busy");
        expect_equal(one.ask().wake_at, s.now() + second, "when the first one is to ask");
        expect_equal(counts(s).listeners, std::uint64_t{1}, "listeners");
        s.perform(LeaveTimers{timer_space, "nobody"});
        s.perform(LeaveTimers{"nowhere", "one"});
        two.ask();
        expect_equal(counts(s).listeners, std::uint64_t{2}, "listeners when it asks for more");
    });

    add("while many are due, the next listener is woken for them", [](Scenario& s) {
        Ear one{s, "one"};
        Ear two{s, "two"};
        for (int i = 0; i < 10; ++i) post(s, std::to_string(i), Duration{0});
        one.expect_woken("a post");
        expect_equal(one.ask(4).wake_at, s.now(), "when to ask");
        two.expect_woken("its turn");
        expect_equal(ids_of(two.ask(4)), Ids{"4", "5", "6", "7"}, "taken by the other one");
        expect_equal(ids_of(one.ask(4)), Ids{"8", "9"}, "the rest");
    });

    add("DEAD timers that are posted again wake a listener", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        let_fire(s);
        let_fire(s);
        expect_equal(counts(s).dead, std::uint64_t{1}, "DEAD timers");
        s.perform(LeaveTimers{timer_space, "ear"});
        Ear ear{s, "another"};
        s.perform(RepostDeadTimers{timer_space, {}, s.now() + second});
        ear.expect_woken("a timer that is posted again");
        expect_equal(ear.ask().wake_at, s.now() + second, "when to ask");
    });

    add("a clock that is set back keeps nobody from its turn", [](Scenario& s) {
        Ear gone{s, "gone"};
        Ear ear{s, "ear"};
        post(s, "a", second);
        gone.expect_woken("a post");
        s.advance(Duration{-3'600'000});
        post(s, "b", second);
        ear.ask();
        s.advance(second);
        ear.ask();
        for (int i = 0; i < 3; ++i) {
            s.advance(timer_listener_silence);
            ear.ask();
        }
        post(s, "c", second);
        expect_equal(ear.ask().wake_at, s.now() + second, "when to ask: it has the turn");
    });
}

void add_refused_timer_cases(StoreCases& add) {
    add("a bad step about timers is refused and changes nothing", [](Scenario& s) {
        post(s, "there", second, 1);
        const auto refused = [&](auto change, const char* field, Where at = Where::here()) {
            auto step = post_of(s, "a", second);
            change(step);
            s.expect_refused(step, field, at);
        };
        for (const char* name : {"", "a b", "a:b", "\xc3\xa9", "a/b"}) {
            refused([&](PostTimer& step) { step.space = name; }, "space");
            s.expect_refused(CancelTimer{name, "a"}, "space");
            s.expect_refused(PostponeTimer{name, "a", s.now()}, "space");
            s.expect_refused(FindTimer{name, "a"}, "space");
            s.expect_refused(ListTimers{.space = name}, "space");
            s.expect_refused(CountTimers{name}, "space");
            s.expect_refused(ConfirmTimer{name, "a"}, "space");
            s.expect_refused(TakeTimers{.space = name, .listener = "ear"}, "space");
            s.expect_refused(LeaveTimers{name, "ear"}, "space");
            s.expect_refused(RepostDeadTimers{name, {}, s.now()}, "space");
            s.expect_refused(DropDeadTimers{name}, "space");
            s.expect_refused(TakeTimers{.space = timer_space, .listener = name}, "listener");
            s.expect_refused(LeaveTimers{timer_space, name}, "listener");
        }
        refused([](PostTimer& step) { step.space = std::string(65, 'a'); }, "space");
        refused([](PostTimer& step) { step.id.clear(); }, "id");
        refused([](PostTimer& step) { step.id = std::string(timer_id_length_max + 1, 'a'); }, "id");
        refused([](PostTimer& step) { step.id = std::string{"a\0b", 3}; }, "id");
        refused([](PostTimer& step) { step.id = "\xff"; }, "id");
        refused([](PostTimer& step) { step.payload.clear(); }, "payload");
        refused([](PostTimer& step) { step.payload = "\xc1"; }, "payload");
        refused([](PostTimer& step) { step.payload = encode(Value{"\xff"}); }, "payload");
        refused(
            [](PostTimer& step) {
                step.payload = encode(Value{Value::Map{{"\xff", 1}}});
            },
            "payload");
        refused(
            [](PostTimer& step) {
                step.payload = encode(Value{std::numeric_limits<double>::infinity()});
            },
            "payload");
        refused([](PostTimer& step) { step.payload = encode(Value{1}) + encode(Value{1}); },
                "payload");
        refused([](PostTimer& step) { step.payload = encode(Value{std::string(65'536, 'x')}); },
                "payload");
        refused(
            [](PostTimer& step) {
                Value nested;
                for (int i = 0; i < 70; ++i) nested = Value{Value::Array{std::move(nested)}};
                step.payload = encode(nested);
            },
            "payload");
        refused([](PostTimer& step) { step.due_at = TimePoint{Duration{-1}}; }, "due_at");
        refused([](PostTimer& step) { step.due_at = timer_at_max + Duration{1}; }, "due_at");
        refused([](PostTimer& step) { step.retries_max = timer_retries_max + 1; }, "retries_max");
        refused([](PostTimer& step) { step.confirm_within = Duration{-1}; }, "confirm_within");
        refused([](PostTimer& step) { step.confirm_within = timer_confirm_max + Duration{1}; },
                "confirm_within");
        s.expect_refused(PostponeTimer{timer_space, "there", never}, "due_at");
        s.expect_refused(RepostDeadTimers{timer_space, {}, never}, "due_at");
        s.expect_refused(ListTimers{.space = timer_space, .limit = 0}, "limit");
        s.expect_refused(ListTimers{.space = timer_space, .limit = 1'001}, "limit");
        s.expect_refused(
            TakeTimers{.space = timer_space, .listener = "ear", .limit = taken_timers_max + 1},
            "limit");
        s.expect_refused(
            TakeTimers{
                .space = timer_space, .listener = "ear", .limit = 1, .confirm_within = Duration{0}},
            "confirm_within");
        s.expect_refused(TakeTimers{.space = timer_space,
                                    .listener = "ear",
                                    .limit = 1,
                                    .confirm_within = timer_confirm_max + Duration{1}},
                         "confirm_within");
    });

    add("the longest ids and the last times are taken", [](Scenario& s) {
        const std::string id(timer_id_length_max, 'x');
        auto step = post_of(s, id, Duration{0}, timer_retries_max);
        step.due_at = timer_at_max;
        step.confirm_within = timer_confirm_max;
        s.perform(step);
        expect_equal(found(s, id).at, timer_at_max, "when it is due");
        expect_equal(take(s).wake_at, timer_at_max, "when to ask");
        step.due_at = TimePoint{};
        expect_equal(s.perform(step), TimerPosted::replaced, "posting it again");
        const auto fired = take(s).timers.at(0);
        expect_equal(fired.due_at, TimePoint{}, "when it was due");
        expect_equal(fired.confirm_by, s.now() + timer_confirm_max, "when it comes back");
        expect_equal(confirm(s, id, 0), TimerConfirmed::confirmed, "confirming");
    });
}

}  // namespace

void add_timer_cases(StoreCases& add) {
    add_firing_cases(add);
    add_change_cases(add);
    add_dead_cases(add);
    add_turn_cases(add);
    add_refused_timer_cases(add);
}

}  // namespace routemaster::testing
