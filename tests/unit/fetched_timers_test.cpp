/// @file
/// Steps that are submitted together load timers ahead. This must not change their replies.

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/step.hpp"
#include "support/machine_store.hpp"
#include "support/seed.hpp"

using namespace routemaster;

namespace {

constexpr TimePoint start = from_milliseconds(1'700'000'000'000);

/// A random step about one of several timers, in two namespaces. Some steps are invalid.
Step random_step(Random& random) {
    const std::string space{"a", random.below(50) == 0 ? 0U : 1U};
    const auto id = random.below(50) == 0 ? std::string(random.below(1'000), 'x')
                                          : std::to_string(random.below(300));
    const auto at = start + Duration{random.below(100)};
    switch (random.below(8)) {
        case 0: return CancelTimer{random.below(3) == 0 ? "b" : space, id};
        case 1: return PostponeTimer{space, id, at};
        case 2: return FindTimer{space, id};
        case 3: return ConfirmTimer{space, id, {}, {}};
        case 4: return TakeTimers{.space = space, .listener = "ear", .limit = 5};
        default: break;
    }
    return PostTimer{.space = random.below(9) == 0 ? "b" : space,
                     .id = id,
                     .payload = encode(Value{id}),
                     .due_at = at,
                     .retries_max = static_cast<std::uint32_t>(random.below(2))};
}

/// The outcome of a step as text.
std::string told(const Outcome& outcome) {
    if (!outcome) return outcome.error().message();
    std::string text;
    if (const auto* posted = std::get_if<TimerPosted>(&*outcome)) {
        text += std::to_string(static_cast<int>(*posted));
    } else if (const auto* removal = std::get_if<Removal>(&*outcome)) {
        text += std::to_string(static_cast<int>(*removal));
    } else if (const auto* count = std::get_if<Count>(&*outcome)) {
        text += std::to_string(count->value);
    } else if (const auto* confirmed = std::get_if<TimerConfirmed>(&*outcome)) {
        text += std::to_string(static_cast<int>(*confirmed));
    } else if (const auto* taken = std::get_if<TakenTimers>(&*outcome)) {
        for (const auto& timer : taken->timers) text += timer.id + " ";
    } else if (const auto* found = std::get_if<FindTimer::Reply>(&*outcome)) {
        if (*found) text += std::to_string(to_milliseconds((*found)->at));
    }
    return text;
}

}  // namespace

TEST_CASE("steps about timers in one submission have the effects of separate steps") {
    const auto number = test::seed(9);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    MemoryStore together;
    test::MachineStore one_by_one;
    for (int submission = 0; submission < 100; ++submission) {
        const auto now = start + Duration{submission};
        std::vector<Step> steps;
        while (steps.size() < 1 + random.below(200)) steps.push_back(random_step(random));
        auto again = steps;
        const auto list = [&](Store& store, std::vector<Step>& all) {
            std::vector<std::string> texts;
            store.submit(all, now, [&](std::span<Outcome> outcomes) {
                for (const auto& outcome : outcomes) texts.push_back(told(outcome));
            });
            return texts;
        };
        REQUIRE(list(together, steps) == list(one_by_one, again));
    }
}
