#include "routemaster/names.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace routemaster;

namespace {

/// Which single bytes a rule accepts as a whole name.
std::string accepted_by(bool (*rule)(std::string_view)) {
    std::string accepted;
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        if (rule({&c, 1})) accepted += c;
    }
    return accepted;
}

}  // namespace

TEST_CASE("topic names are made of lower-case letters and underscores") {
    CHECK(accepted_by(is_topic_name) == "_abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("user names are made of lower-case letters, digits, colons, underscores and hyphens") {
    CHECK(accepted_by(is_user_name) == "-0123456789:_abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("names have 1 to 64 characters, all of them good") {
    for (const auto rule : {is_topic_name, is_user_name}) {
        CHECK_FALSE(rule(""));
        CHECK(rule(std::string(64, 'a')));
        CHECK_FALSE(rule(std::string(65, 'a')));
        CHECK_FALSE(rule("good\n"));
        CHECK_FALSE(rule("Good"));
        CHECK_FALSE(rule("not good"));
        CHECK_FALSE(rule(std::string_view{"good\0", 5}));
    }
}
