#include "core/state/counters.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace routemaster;
using namespace routemaster::detail;

TEST_CASE("a counter is found by its key and stays where it is") {
    NoChangeLog changes;
    CounterTable table{changes};
    auto& first = table.at({"b", {{"queue", "q"}}});
    for (int i = 0; i < 100; ++i) table.add({"a" + std::to_string(i), {}}, i);
    CHECK(&table.at({"b", {{"queue", "q"}}}) == &first);
    CHECK(*first.key == CounterKey{"b", {{"queue", "q"}}});
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

TEST_CASE("a counter that overflows wraps instead of breaking the program") {
    NoChangeLog changes;
    CounterTable table{changes};
    auto& counter = table.at({"a", {}});
    table.add(counter, INT64_MAX);
    table.add(counter, 1);
    CHECK(counter.value == INT64_MIN);
}
