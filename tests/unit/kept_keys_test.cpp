#include "core/state/kept_keys.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>

#include "routemaster/job_key.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

constexpr TimePoint start = from_milliseconds(1'000);

struct Kept {
    NoChangeLog changes;
    CounterTable counters{changes};
    KeptKeys keys{changes, counters};

    void keep(const std::string& key, Duration time, TimePoint now = start) {
        keys.keep("work", key, start + time, now);
    }
};

}  // namespace

TEST_CASE("a key is kept until its time is over, in its queue") {
    Kept kept;
    kept.keep("a", Duration{10});
    CHECK(kept.keys.find("work", "a", start + Duration{9}) != nullptr);
    CHECK(kept.keys.find("other", "a", start) == nullptr);
    CHECK(kept.keys.find("work", "b", start) == nullptr);
    CHECK(kept.keys.find("work", "a", start + Duration{10}) == nullptr);
    CHECK(kept.keys.size() == 0);
}

TEST_CASE("keys whose time is over do not pile up") {
    Kept kept;
    for (int n = 0; n < 100; ++n) {
        kept.keep(std::to_string(n), Duration{n + 10}, start + Duration{n});
    }
    CHECK(kept.keys.size() <= 11);
    kept.keep("again", Duration{500}, start + Duration{400});
    kept.keep("again", Duration{600}, start + Duration{400});
    for (int n = 0; n < 5; ++n) kept.keep("last", Duration{700}, start + Duration{400});
    CHECK(kept.keys.size() == 2);
}

TEST_CASE("of too many keys the one that would end first ends, and is counted") {
    Kept kept;
    kept.keep("last", Duration{900'000});
    kept.keep("first", Duration{1});
    for (std::size_t n = 2; n < kept_keys_max; ++n) {
        kept.keep(std::to_string(n), Duration{1'000});
    }
    CHECK(kept.keys.size() == kept_keys_max);
    CHECK(kept.counters.list({.limit = 10}).empty());
    kept.keep("one more", Duration{1'000});
    CHECK(kept.keys.size() == kept_keys_max);
    CHECK(kept.keys.find("work", "first", start) == nullptr);
    CHECK(kept.keys.find("work", "last", start) != nullptr);
    const auto counters = kept.counters.list({.limit = 10});
    REQUIRE(counters.size() == 1);
    CHECK(counters[0].key == CounterKey{"jobs.keys_forgotten", {{"queue", "work"}}});
    CHECK(counters[0].value == 1);
}
