#include "routemaster/names.hpp"

#include "routemaster/timer.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace routemaster;

namespace {

/// The bytes that a rule accepts as names of one character.
std::string accepted_by(bool (*rule)(std::string_view)) {
    std::string accepted;
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        if (rule({&c, 1})) accepted += c;
    }
    return accepted;
}

bool ruby(std::string_view name) { return is_topic_name(name, TopicRule::ruby); }
bool any(std::string_view name) { return is_topic_name(name, TopicRule::any); }

}  // namespace

TEST_CASE("by Ruby Routemaster's rule, topic names have only lower-case letters and underscores") {
    CHECK(accepted_by(ruby) == "_abcdefghijklmnopqrstuvwxyz");
    for (const char* name : {"orders2", "or-ders", "or.ders"}) {
        CHECK_FALSE(is_topic_name(name, TopicRule::ruby));
    }
}

TEST_CASE("topic names may also have digits, and hyphens and dots except as the first character") {
    CHECK(accepted_by(any) == "0123456789_abcdefghijklmnopqrstuvwxyz");
    for (const char* name : {"orders2", "or-ders", "shop.orders.v2", "2", "a-", "a..", "_.-"}) {
        CHECK_MESSAGE(is_topic_name(name), name);
    }
    for (const char* name : {".", "..", "-", "-a", ".a", "a/b", "a:b", "a,b", "A", "a b"}) {
        CHECK_FALSE_MESSAGE(is_topic_name(name), name);
    }
}

TEST_CASE("user names have only lower-case letters, digits, colons, underscores and hyphens") {
    CHECK(accepted_by(is_user_name) == "-0123456789:_abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("queue names have only letters, digits, underscores, hyphens and dots") {
    CHECK(accepted_by(is_queue_name) ==
          "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");
    for (const char* name : {"a.b", ".a", "a.", "...", "-."})
        CHECK_MESSAGE(is_queue_name(name), name);
    CHECK(is_queue_name(std::string(64, 'Q')));
    CHECK_FALSE(is_queue_name(std::string(65, 'Q')));
    CHECK_FALSE(is_queue_name(""));
    CHECK_FALSE(is_queue_name("main:callbacks"));
}

TEST_CASE("a queue or timer namespace cannot be named . or .., which are relative path segments") {
    for (const char* name : {".", ".."}) {
        CHECK_FALSE_MESSAGE(is_queue_name(name), name);
        CHECK_FALSE_MESSAGE(is_timer_name(name), name);
    }
    CHECK(is_timer_name("..."));
    CHECK(is_timer_name("{a}.b"));
}

TEST_CASE("topic and user names have 1 to 64 valid characters") {
    for (const auto rule : {ruby, any, +[](std::string_view name) { return is_user_name(name); }}) {
        CHECK_FALSE(rule(""));
        CHECK(rule(std::string(64, 'a')));
        CHECK_FALSE(rule(std::string(65, 'a')));
        CHECK_FALSE(rule("good\n"));
        CHECK_FALSE(rule("Good"));
        CHECK_FALSE(rule("not good"));
        CHECK_FALSE(rule(std::string_view{"good\0", 5}));
    }
}
