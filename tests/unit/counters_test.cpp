#include "core/state/counters.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

using namespace routemaster;
using namespace routemaster::detail;

TEST_CASE("a counter is found by its key, and keeps its address") {
    NoChangeLog changes;
    CounterTable table{changes};
    auto& first = table.at({"b", {{"queue", "q"}}});
    for (int i = 0; i < 100; ++i) table.add({"a" + std::to_string(i), {}}, i);
    CHECK(&table.at({"b", {{"queue", "q"}}}) == &first);
    CHECK(first.key == CounterKey{"b", {{"queue", "q"}}});
    table.add(first, 5);
    table.add({"b", {{"queue", "q"}}}, -2);
    CHECK(first.value == 3);
    CHECK(table.list({}).size() == 101);
}

TEST_CASE("counters are listed in the order of their encoded keys") {
    NoChangeLog changes;
    CounterTable table{changes};
    const std::vector<CounterKey> keys{{"a", {}},
                                       {"a", {{"q", "x"}}},
                                       {"a", {{"q", std::nullopt}}},
                                       {"a", {{"q", "x"}, {"r", "x"}}},
                                       {"b", {}}};
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) table.add(*key, 1);
    std::vector<CounterKey> listed;
    for (const auto& counter : table.list({})) listed.push_back(counter.key);
    CHECK(listed == keys);
}

TEST_CASE("the cost of a page of counters does not depend on the number of counters") {
    NoChangeLog changes;
    CounterTable table{changes};
    for (int i = 0; i < 100'000; ++i) table.add({"events", {{"queue", std::to_string(i)}}}, 1);
    const auto begun = std::chrono::steady_clock::now();
    std::string after;
    for (int page = 0; page < 100; ++page) {
        const auto listed = table.list({.after = after, .limit = 10});
        REQUIRE(listed.size() == 10);
        after = encode_counter_key(listed.back().key);
    }
    // Sorting all counters for each page would take more than ten times as long.
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds{500});
}

TEST_CASE("a counter that overflows wraps to 0 without undefined behaviour") {
    NoChangeLog changes;
    CounterTable table{changes};
    auto& counter = table.at({"a", {}});
    table.add(counter, INT64_MAX);
    table.add(counter, 1);
    CHECK(counter.value == INT64_MIN);
}
