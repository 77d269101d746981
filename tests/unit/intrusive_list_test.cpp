#include "core/containers/intrusive_list.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace routemaster::detail;

namespace {

struct Item {
    char name;
    ListHook<Item> hook{};
};

using List = IntrusiveList<Item, &Item::hook>;

/// The names from the front, followed by the names from the back. Both must have opposite orders.
std::string names(const List& list) {
    std::string forwards;
    for (const auto* item = list.front(); item != nullptr; item = List::next(*item)) {
        forwards += item->name;
    }
    std::string backwards;
    for (const auto* item = list.back(); item != nullptr; item = List::previous(*item)) {
        backwards += item->name;
    }
    CHECK(std::string{backwards.rbegin(), backwards.rend()} == forwards);
    CHECK(list.size() == forwards.size());
    CHECK(list.empty() == forwards.empty());
    return forwards;
}

}  // namespace

TEST_CASE("an intrusive list keeps its elements in order and removes any element") {
    std::array<Item, 4> items{{{'a'}, {'b'}, {'c'}, {'d'}}};
    List list;
    CHECK(names(list).empty());
    for (auto& item : items) list.push_back(item);
    CHECK(names(list) == "abcd");
    list.remove(items[1]);
    CHECK(names(list) == "acd");
    list.remove(items[3]);
    CHECK(names(list) == "ac");
    list.remove(items[0]);
    CHECK(names(list) == "c");
    list.push_back(items[0]);
    CHECK(names(list) == "ca");
    list.remove(items[2]);
    list.remove(items[0]);
    CHECK(names(list).empty());
    list.push_back(items[3]);
    CHECK(names(list) == "d");
    list.clear();
    CHECK(names(list).empty());
}
