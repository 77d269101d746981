#include "core/state/kept_keys.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>

#include "routemaster/job_key.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

constexpr TimePoint begun = from_milliseconds(1'000);

struct KeptScene {
    NoChangeLog changes;
    CounterTable counters{changes};
    KeptKeys keys{changes, counters};

    void keep(const std::string& key, Duration time, TimePoint now = begun) {
        keys.keep("work", key, begun + time, now);
    }
};

}  // namespace

TEST_CASE("a key is kept until its time is over, separately for each queue") {
    KeptScene kept;
    kept.keep("a", Duration{10});
    CHECK(kept.keys.find("work", "a", begun + Duration{9}) != nullptr);
    CHECK(kept.keys.find("other", "a", begun) == nullptr);
    CHECK(kept.keys.find("work", "b", begun) == nullptr);
    CHECK(kept.keys.find("work", "a", begun + Duration{10}) == nullptr);
    CHECK(kept.keys.size() == 0);
}

TEST_CASE("expired keys are removed over time") {
    KeptScene kept;
    for (int n = 0; n < 100; ++n) {
        kept.keep(std::to_string(n), Duration{n + 10}, begun + Duration{n});
    }
    CHECK(kept.keys.size() <= 11);
    kept.keep("again", Duration{500}, begun + Duration{400});
    kept.keep("again", Duration{600}, begun + Duration{400});
    for (int n = 0; n < 5; ++n) kept.keep("last", Duration{700}, begun + Duration{400});
    CHECK(kept.keys.size() == 2);
}

TEST_CASE("of too many keys the key that expires first is removed and counted") {
    KeptScene kept;
    kept.keep("last", Duration{900'000});
    kept.keep("first", Duration{1});
    for (std::size_t n = 2; n < kept_keys_max; ++n) {
        kept.keep(std::to_string(n), Duration{1'000});
    }
    CHECK(kept.keys.size() == kept_keys_max);
    CHECK(kept.counters.list({.limit = 10}).empty());
    kept.keep("one more", Duration{1'000});
    CHECK(kept.keys.size() == kept_keys_max);
    CHECK(kept.keys.find("work", "first", begun) == nullptr);
    CHECK(kept.keys.find("work", "last", begun) != nullptr);
    const auto counters = kept.counters.list({.limit = 10});
    REQUIRE(counters.size() == 1);
    CHECK(counters[0].key == CounterKey{"jobs.keys_forgotten", {{"queue", "work"}}});
    CHECK(counters[0].value == 1);
}
