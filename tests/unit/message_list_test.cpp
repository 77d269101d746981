#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/random.hpp"

using namespace routemaster;

namespace {

std::vector<std::string> texts(const MessageList& messages) {
    return {messages.begin(), messages.end()};
}

}  // namespace

TEST_CASE("a new message list is empty") {
    const MessageList messages;
    CHECK(messages.empty());
    CHECK(messages.size() == 0);
    CHECK(messages.bytes() == 0);
    CHECK(messages.begin() == messages.end());
}

TEST_CASE("messages keep their order, their bytes and their lengths") {
    const std::vector<std::string> expected{
        "one", "", std::string(3, '\0'), "\xff\xfe", std::string(70'000, 'x'), ""};
    MessageList messages;
    std::size_t bytes = 0;
    for (const auto& message : expected) {
        messages.append(message);
        bytes += 4 + message.size();
        CHECK(messages.bytes() == bytes);
    }
    CHECK_FALSE(messages.empty());
    CHECK(messages.size() == expected.size());
    CHECK(texts(messages) == expected);
}

TEST_CASE("random messages are read back as appended") {
    Random random{11};
    MessageList messages;
    std::vector<std::string> expected;
    for (int i = 0; i < 500; ++i) {
        std::string message(random.below(40), '\0');
        for (auto& c : message) c = static_cast<char>(random.next());
        messages.append(message);
        expected.push_back(std::move(message));
    }
    CHECK(texts(messages) == expected);
}

TEST_CASE("message lists are equal when their messages are equal") {
    MessageList one;
    MessageList two;
    CHECK(one == two);
    one.append("ab");
    CHECK_FALSE(one == two);
    two.append("a");
    two.append("b");
    CHECK_FALSE(one == two);
    auto copy = one;
    CHECK(copy == one);
    copy.append("c");
    CHECK_FALSE(copy == one);
    CHECK(texts(one) == std::vector<std::string>{"ab"});
}
