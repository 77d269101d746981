#include "core/containers/timed_buckets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

std::size_t ids_looked_at = 0;

/// An element that counts how often its id is read.
struct Reminder {
    TimePoint at;
    std::string name;

    [[nodiscard]] std::string_view id() const {
        ++ids_looked_at;
        return name;
    }
};

/// Buckets, and a map with the same contents.
struct ReminderScene {
    using Key = std::pair<TimePoint, std::string>;

    void insert(std::int64_t at, std::string id) {
        const Key key{from_milliseconds(at), id};
        const auto [place, is_new] = expected.try_emplace(key);
        if (!is_new) return;
        place->second.reset(new Reminder{key.first, std::move(id)});
        buckets.insert(*place->second);
    }
    void remove(std::map<Key, std::unique_ptr<Reminder>>::iterator place) {
        buckets.remove(*place->second);
        expected.erase(place);
    }
    void remove_near(std::int64_t at, std::string id) {
        auto place = expected.lower_bound({from_milliseconds(at), std::move(id)});
        if (place != expected.end()) remove(place);
    }
    /// Checks the elements from an instant on, after an id at this instant.
    void check(std::int64_t from, const std::string& after) const {
        REQUIRE(buckets.size() == expected.size());
        REQUIRE(buckets.empty() == expected.empty());
        REQUIRE((buckets.buckets() == 0) == expected.empty());
        if (!expected.empty()) REQUIRE(&buckets.first() == expected.begin()->second.get());
        if (!expected.empty()) {
            auto place = expected.begin();
            const auto few = buckets.first_few();
            for (auto each = few.rbegin(); each != few.rend(); ++each) {
                REQUIRE(*each == (place++)->second.get());
            }
        }
        const auto begin = from_milliseconds(from);
        const auto spot = buckets.spot(begin, after);
        CHECK((spot == nullptr) == expected.empty());
        TimedBuckets<Reminder>::fetch(spot);
        auto next = after.empty() ? expected.lower_bound({begin, ""})
                                  : expected.upper_bound({begin, after});
        int left = 400;
        buckets.visit_from(begin, after, [&](const Reminder& reminder) {
            REQUIRE(next != expected.end());
            REQUIRE(&reminder == (next++)->second.get());
            return --left > 0;
        });
        REQUIRE((left == 0 || next == expected.end()));
    }

    TimedBuckets<Reminder>::Memory memory;
    TimedBuckets<Reminder> buckets{memory};
    std::map<Key, std::unique_ptr<Reminder>> expected;
};

std::size_t looks(const std::function<void()>& act) {
    const auto before = ids_looked_at;
    act();
    return ids_looked_at - before;
}

}  // namespace

TEST_CASE("timed buckets agree with a map after any insertions and removals") {
    const auto number = test::seed(8);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    ReminderScene scene;
    scene.check(0, "");
    // All elements at one instant, at a few, and at many.
    for (const std::uint64_t instants : {1U, 40U, 3'000U, 1'000'000U}) {
        const auto at = [&] { return static_cast<std::int64_t>(random.below(instants + 2)); };
        const auto id = [&] { return std::to_string(random.below(30'000 / instants + 3)); };
        // The buckets first grow, and then shrink.
        for (const std::uint64_t inserted : {90U, 10U}) {
            for (int step = 0; step < 10'000; ++step) {
                random.below(100) < inserted ? scene.insert(at(), id())
                                             : scene.remove_near(at(), id());
                if (step % 50 == 0) scene.check(at(), step % 100 == 0 ? "" : id());
            }
        }
        while (!scene.expected.empty()) {
            scene.remove(scene.expected.begin());
            if (scene.expected.size() % 50 == 0) scene.check(at(), "");
        }
        scene.check(0, "");
    }
}

TEST_CASE(
    "elements inserted in ascending or descending order are listed in order, in full buckets") {
    constexpr std::int64_t count = 20'000;
    ReminderScene forwards;
    ReminderScene backwards;
    for (std::int64_t n = 0; n < count; ++n) {
        // Three elements per instant, in mixed order.
        forwards.insert(n / 3, std::to_string(n * 7 % 10));
        backwards.insert((count - n) / 3, std::to_string(n * 7 % 10));
    }
    for (std::int64_t from = 0; from < count / 3; from += 97) {
        forwards.check(from, "");
        backwards.check(from, "5");
    }
    CHECK(forwards.buckets.buckets() < count / 105);
    while (!forwards.expected.empty()) forwards.remove(std::prev(forwards.expected.end()));
    while (!backwards.expected.empty()) backwards.remove(std::prev(backwards.expected.end()));
    forwards.check(0, "");
    backwards.check(0, "");
}

TEST_CASE("few elements use few timed buckets, even after many removals") {
    ReminderScene scene;
    constexpr std::int64_t count = 50'000;
    for (std::int64_t n = 0; n < count; ++n) scene.insert(n * 7'919 % count, "");
    std::int64_t n = 0;
    for (auto place = scene.expected.begin(); place != scene.expected.end(); ++n) {
        const auto reminder = place++;
        if (n % 100 != 99) scene.remove(reminder);
    }
    CHECK(scene.expected.size() == count / 100);
    CHECK(scene.buckets.buckets() < 30);
    scene.check(0, "");
}

TEST_CASE("every operation on timed buckets with many elements at one instant visits only a few") {
    constexpr std::size_t count = 200'000;
    constexpr std::size_t one_bucket = 4'000;
    TimedBuckets<Reminder>::Memory memory;
    TimedBuckets<Reminder> buckets{memory};
    std::deque<Reminder> reminders;
    std::size_t most = 0;
    const auto note = [&](const std::function<void()>& act) { most = std::max(most, looks(act)); };
    for (std::size_t n = 0; n < count; ++n) {
        reminders.push_back({TimePoint{}, std::to_string(n * 7'919 % count)});
        note([&] { buckets.insert(reminders.back()); });
    }
    for (std::size_t page = 0; page < 100; ++page) {
        std::size_t left = 100;
        note([&] {
            buckets.visit_from(TimePoint{}, reminders[page * 1'999].name,
                               [&](const Reminder&) { return --left > 0; });
        });
    }
    for (std::size_t n = 0; n < count; n += 3) note([&] { buckets.remove(reminders[n]); });
    while (!buckets.empty()) note([&] { buckets.remove(buckets.first()); });
    CHECK(most < one_bucket);
}

TEST_CASE("all elements can be listed and removed page by page") {
    ReminderScene scene;
    for (std::int64_t n = 0; n < 5'000; ++n) scene.insert(n / 1'000, std::to_string(n));
    while (!scene.expected.empty()) {
        std::vector<const Reminder*> page;
        scene.buckets.visit_from(TimePoint::min(), "", [&](const Reminder& reminder) {
            page.push_back(&reminder);
            return page.size() < 300;
        });
        for (const auto* each : page) scene.remove(scene.expected.find({each->at, each->name}));
        scene.check(2, "2500");
    }
    CHECK(scene.buckets.buckets() == 0);
}
