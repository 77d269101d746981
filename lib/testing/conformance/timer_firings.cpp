#include "routemaster/store/step/timer_firings.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "threads.hpp"
#include "timer_steps.hpp"

namespace routemaster::testing {

void add_timer_firing_cases(StoreCases& add) {
    add("a timer fires at its due time, and not one millisecond sooner", [](Scenario& s) {
        post(s, "a", one_second);
        const auto due = s.now() + one_second;
        expect_equal(take(s).wake_at, due, "time of the next poll");
        s.advance(Duration{999});
        expect_equal(take(s), TakenTimers{{}, due}, "reply one millisecond before the due time");
        s.advance(Duration{1});
        const auto taken = take(s);
        expect_equal(
            taken.timers,
            std::vector<FiredTimer>{{.id = "a", .payload = encode(Value{"a"}), .due_at = due}},
            "timers taken at the due time");
        expect_equal(taken.wake_at, never, "time of the poll after the last timer");
        expect(!exists(s, "a"), "a timer without retries must not exist after it has fired");
        expect_equal(take(s), TakenTimers{}, "reply to a second poll");
    });

    add("timers fire in the order of due times, and at one time by their ids", [](Scenario& s) {
        for (const char* id : {"b", "B", "\xc3\xa9", "a", "~", "aa"}) post(s, id, one_second);
        post(s, "later", one_second + Duration{1});
        post(s, "sooner", one_second - Duration{1});
        s.advance(2 * one_second);
        const auto first = take(s, 3);
        expect_equal(ids_of(first), Ids{"sooner", "B", "a"}, "ids of the first three timers");
        expect_equal(first.wake_at, s.now(), "time of the next poll while more timers are due");
        expect_equal(take_ids(s), Ids{"aa", "b", "~", "\xc3\xa9", "later"},
                     "ids of the remaining timers");
    });

    add("a timer keeps its payload byte for byte", [](Scenario& s) {
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
            expect(found_timer(s, id).payload == payloads[i], "payload of " + id);
            const auto taken = take(s);
            expect_equal(taken.timers.at(0).payload, encode(payloads[i]),
                         "payload of the first firing");
            s.advance(Duration{10'000});
            const auto again = take(s);
            expect_equal(again.timers.at(0).payload, encode(payloads[i]),
                         "payload of the second firing");
            expect_equal(confirm(s, id), TimerConfirmed::confirmed, "outcome of the confirmation");
        }
    });

    add("a timer with retries fires until its confirmation, and then never again", [](Scenario& s) {
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
                     "first firing of the timer");
        const auto status = found_timer(s, "a");
        expect_equal(status.state, TimerState::fired, "state of the timer after its first firing");
        expect_equal(status.at, confirm_by, "due time of the next firing");
        expect_equal(take(s), TakenTimers{{}, confirm_by},
                     "reply to a poll before the confirmation");
        s.advance(Duration{9'999});
        expect_equal(take(s), TakenTimers{{}, confirm_by},
                     "reply one millisecond before the deadline of the confirmation");
        s.advance(Duration{5'000});
        const auto second_time = take(s).timers.at(0);
        expect_equal(second_time.retries, 1U, "retries of the second firing");
        expect_equal(second_time.due_at, confirm_by, "due time of the second firing");
        expect_equal(confirm(s, "a", 0), TimerConfirmed::unknown,
                     "outcome of the confirmation of the first firing");
        expect_equal(confirm(s, "a", 1), TimerConfirmed::confirmed,
                     "outcome of the confirmation of the second firing");
        expect_equal(confirm(s, "a", 1), TimerConfirmed::unknown,
                     "outcome of a repeated confirmation");
        expect(!exists(s, "a"), "a confirmed timer must not exist");
        s.advance(Duration{100'000});
        expect_equal(take(s), TakenTimers{}, "reply to a poll much later");
    });

    add("a late confirmation counts if the timer has not fired again", [](Scenario& s) {
        post(s, "a", Duration{0}, 1);
        take(s);
        s.advance(Duration{20'000});
        expect_equal(confirm(s, "a", 0), TimerConfirmed::confirmed, "outcome of the confirmation");
        expect_equal(take(s), TakenTimers{}, "reply to a poll after the confirmation");
    });

    add("a confirmation's time limit is the timer's, or else the listener's", [](Scenario& s) {
        auto own = post_of(s, "own", Duration{0}, 1);
        own.confirm_within = Duration{300};
        s.perform(own);
        post(s, "plain", Duration{0}, 1);
        const auto taken = s.perform(TakeTimers{
            .space = timer_space, .listener = "ear", .limit = 8, .confirm_within = Duration{700}});
        expect_equal(taken.timers.at(0).confirm_by, s.now() + Duration{300},
                     "confirmation deadline set by the timer");
        expect_equal(taken.timers.at(1).confirm_by, s.now() + Duration{700},
                     "confirmation deadline set by the listener");
        expect_equal(taken.wake_at, s.now() + Duration{300}, "time of the next poll");
    });

    add("a timer that returns for a retry fires in the order of due times", [](Scenario& s) {
        post(s, "back", Duration{0}, 1);
        take(s);
        post(s, "before", Duration{9'999});
        post(s, "b equal", Duration{10'000});
        post(s, "a equal", Duration{10'000});
        post(s, "behind", Duration{10'001});
        s.advance(Duration{20'000});
        expect_equal(take_ids(s), Ids{"before", "a equal", "b equal", "back", "behind"},
                     "ids taken");
    });

    add("only one of eight concurrent listeners gets a timer", [](Scenario& s) {
        constexpr int timers = 200;
        for (int i = 0; i < timers; ++i) {
            post(s, std::to_string(i), Duration{i % 10}, static_cast<std::uint32_t>(i % 2));
        }
        s.advance(one_second);
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
        expect_equal(fired.size(), std::size_t{timers}, "number of firings");
        for (int i = 0; i < timers; ++i) {
            expect_equal(fired.count(std::to_string(i)), std::size_t{1}, "firings of each timer");
        }
    });

    add("while four threads post and four take timers, each timer fires once", [](Scenario& s) {
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
        expect_equal(fired.size(), std::size_t{4 * each}, "number of firings");
        expect_equal(std::set<std::string>(fired.begin(), fired.end()).size(),
                     std::size_t{4 * each}, "different timers that fired");
    });

    add("many timers that are due at once are taken in chunks, in their order", [](Scenario& s) {
        constexpr int timers = 2'500;
        for (int i = 0; i < timers; ++i) {
            // The timers are not posted in the order of their due times.
            post(s, std::to_string(100'000 + i), Duration{(i * 7) % 50});
        }
        s.advance(one_second);
        std::vector<std::pair<TimePoint, std::string>> fired;
        while (true) {
            const auto taken = take(s);
            if (taken.timers.empty()) break;
            expect(taken.timers.size() <= taken_timers_max, "a chunk must not exceed its limit");
            for (const auto& timer : taken.timers) fired.emplace_back(timer.due_at, timer.id);
            const bool done = fired.size() == timers;
            expect_equal(taken.wake_at, done ? never : s.now(), "time of the next poll");
        }
        expect_equal(fired.size(), std::size_t{timers}, "number of firings");
        expect(std::is_sorted(fired.begin(), fired.end()), "timers must fire in order");
    });

    add("timers with large payloads fire, and return for a retry, in bounded chunks and in order",
        [](Scenario& s) {
            constexpr std::size_t timers = 100;
            for (std::size_t i = 0; i < timers; ++i) {
                const auto delay = Duration{static_cast<std::int64_t>(i * 7 % 50)};
                post_large(s, std::to_string(100 + i), delay, 1);
            }
            s.advance(one_second);
            for (const auto retries : {0U, 1U}) {
                std::vector<std::pair<TimePoint, std::string>> fired;
                int slices = 0;
                while (fired.size() < timers) {
                    const auto taken = take(s);
                    expect(!taken.timers.empty(), "a chunk must contain a timer");
                    std::size_t bytes = 0;
                    for (const auto& timer : taken.timers) {
                        expect_equal(timer.retries, retries, "retries");
                        bytes += timer.payload.size();
                        fired.emplace_back(timer.due_at, timer.id);
                    }
                    expect(bytes <= timer_slice_bytes_max, "a chunk must not exceed its limit");
                    const bool done = fired.size() == timers;
                    const auto wake_at = done ? s.now() + Duration{10'000} : s.now();
                    expect_equal(taken.wake_at, wake_at, "time of the next poll");
                    ++slices;
                }
                expect_equal(slices, 2, "number of chunks");
                expect(std::is_sorted(fired.begin(), fired.end()), "timers must fire in order");
                expect(std::adjacent_find(fired.begin(), fired.end()) == fired.end(),
                       "each timer must fire once");
                s.advance(Duration{10'000});
            }
        });

    add("when the clock jumps, no timer fires twice or early, and late timers fire in order",
        [](Scenario& s) {
            post(s, "once", Duration{0});
            post(s, "again", Duration{0}, 1);
            post(s, "later", one_second);
            expect_equal(take_ids(s), Ids{"again", "once"}, "ids taken");
            const auto confirm_by = s.now() + Duration{10'000};
            s.advance(Duration{-3'600'000});
            expect_equal(take_ids(s), Ids{}, "ids taken after the clock was set back");
            expect_equal(found_timer(s, "again").at, confirm_by, "due time of the second firing");
            post(s, "new", one_second);
            s.advance(one_second);
            expect_equal(take_ids(s), Ids{"new"},
                         "ids taken after the clock was set back and a second has passed");
            s.advance(Duration{7'200'000});
            expect_equal(take_ids(s), Ids{"later", "again"},
                         "ids taken after the clock was set forward");
            expect_equal(confirm(s, "again", 1), TimerConfirmed::confirmed,
                         "outcome of the confirmation");
            expect_equal(take_ids(s), Ids{}, "ids taken after the confirmation");
        });
}

}  // namespace routemaster::testing
