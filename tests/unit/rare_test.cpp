#include "routemaster/detail/rare.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using routemaster::detail::Rare;

TEST_CASE("an optional value stored as Rare has its default until it is set") {
    Rare<std::string> text;
    CHECK(text->empty());
    CHECK(text == Rare<std::string>{std::string{}});
    text = std::string{"a"};
    CHECK(*text == "a");
    CHECK(text != Rare<std::string>{});
}

TEST_CASE("copies of a Rare value are independent, and a moved-from value has its default") {
    Rare<std::string> first{std::string{"a text of more characters than fit without memory"}};
    auto copy = first;
    CHECK(copy == first);
    CHECK(&*copy != &*first);
    copy = std::string{"b"};
    CHECK(first != copy);
    const auto moved = std::move(first);
    CHECK(moved->starts_with("a text"));
    CHECK(first->empty());
    copy = moved;
    CHECK(copy == moved);
}

TEST_CASE("a Rare value equal to the default uses no memory, even when it is passed") {
    static_assert(sizeof(Rare<std::string>) == sizeof(void*));
    const Rare<std::string> one{std::string{}};
    const Rare<std::string> other;
    CHECK(&*one == &*other);
}
