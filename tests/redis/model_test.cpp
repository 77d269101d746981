// Compares the Redis store with the state machine: equal random steps must have equal replies, and
// equal keys at the end.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/state/machine.hpp"
#include "routemaster/store/redis.hpp"
#include "support/expected_keys.hpp"
#include "support/random_steps.hpp"
#include "support/redis_keys.hpp"
#include "support/redis_server.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using test::RandomSteps;

namespace {

constexpr int steps_max = 100'000;
constexpr int steps_between_dumps = 2'000;

/// Sets the clock of a run so that no two jobs become due in the same millisecond. Redis would
/// order such jobs by their bytes, and the machine by their age. Step i is at i units plus i
/// milliseconds modulo the unit, and each span is a whole number of units.
class Instants {
public:
    static constexpr Duration unit{1'024};

    TimePoint next(std::int64_t units) {
        passed_ += units + 1;
        ++step_;
        return from_milliseconds(1'700'000'000'000 / unit.count() * unit.count()) + passed_ * unit +
               Duration{step_ % unit.count()};
    }

private:
    std::int64_t passed_ = 0;
    std::int64_t step_ = 0;
};

/// The differences between the machine's state as keys, and the actual keys. Ignores keys that no
/// step reads.
std::string differences(detail::Machine& machine, const test::RedisServer& server) {
    const std::vector<std::string> tokens{RandomSteps::tokens.begin(), RandomSteps::tokens.end()};
    return test::keys_of(server).actual().differences(test::ExpectedKeys{machine, tokens}.all());
}

/// The number of steps under way at once: enough to keep the server busy, and few enough to learn
/// of leases soon.
constexpr std::size_t group_size = 8;

/// A step under way.
struct Asked {
    std::size_t kind;
    Outcome expected;
    std::promise<Outcome> answer{};
};

bool same(const Outcome& a, const Outcome& b) {
    if (!a || !b) return !a && !b && a.error().code() == b.error().code();
    return *a == *b;
}

void walk(std::uint64_t seed, std::uint32_t in_flight_max, int steps) {
    test::RedisServer server;
    RedisStore store{{.addresses = {server.address()}}};
    detail::NoChangeLog changes;
    detail::Machine machine{changes};
    RandomSteps random{seed, in_flight_max, Instants::unit};
    // A listener without a watch would count as gone.
    const auto watch = store.watch(timer_watch("reminders", "ear"), [] {});
    Instants instants;

    for (int done = 0; done < steps;) {
        std::deque<Asked> asked;
        for (std::size_t n = 0; n < group_size; ++n) {
            const auto now = instants.next(random.pause() / Instants::unit);
            auto step = random.next(now);
            auto twin = step;
            auto& one = asked.emplace_back(Asked{step.index(), machine.perform(twin, now)});
            store.submit({&step, 1}, now, [&one](std::span<Outcome> outcomes) {
                one.answer.set_value(std::move(outcomes.front()));
            });
        }
        for (auto& one : asked) {
            const auto answer = one.answer.get_future().get();
            ++done;
            CAPTURE(done);
            CAPTURE(one.kind);
            REQUIRE_MESSAGE(same(answer, one.expected), "the replies differ");
            if (!answer) continue;
            if (const auto* got = std::get_if<Acquired>(&*answer)) random.got(got->leases);
            if (const auto* got = std::get_if<std::vector<DeadBatchStatus>>(&*answer)) {
                random.got(*got);
            }
            if (const auto* got = std::get_if<std::vector<QueuedBatch>>(&*answer)) {
                random.got(*got);
            }
            if (const auto* got = std::get_if<DueRecurring>(&*answer)) random.got(*got);
            if (const auto* got = std::get_if<JobBatchCreated>(&*answer)) random.got(*got);
        }
        if (done % steps_between_dumps == 0) {
            const auto wrong = differences(machine, server);
            REQUIRE_MESSAGE(wrong.empty(), wrong);
        }
    }
}

}  // namespace

TEST_CASE("redis: 100,000 random steps have the replies and the data of the state machine") {
    const auto seed = test::seed(1);
    ROUTEMASTER_TELL_SEED(seed);
    walk(seed, 1, steps_max / 2);
    walk(seed + 1, 4, steps_max / 2);
}
