#include "routemaster/public_part.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace routemaster;

TEST_CASE("the public part of a token is the part before the first --, or four characters") {
    CHECK(public_part("shop--0123456789abcdef") == "shop");
    CHECK(public_part("a--b--c") == "a");
    CHECK(public_part("0123456789abcdef") == "0123…");
    CHECK_MESSAGE(public_part("abcd") == "…", "short enough to be shown whole");
    CHECK(public_part("") == "…");
    CHECK_MESSAGE(public_part("--secret") == "--se…", "nobody is named");
    CHECK(public_name("--secret").empty());
    CHECK(public_name("secret").empty());
    CHECK(public_name("shop--secret") == "shop");
}

TEST_CASE("the public part of a callback is its scheme, host and port") {
    CHECK(public_url("https://b.example:8443/events?key=secret#more") == "https://b.example:8443");
    CHECK(public_url("https://user:secret@b.example/secret@x") == "https://b.example");
    CHECK(public_url("https://u@secret@b.example?x") == "https://b.example");
    CHECK(public_url("https://b.example\\secret") == "https://b.example");
    CHECK(public_url("http://[::1]:8080#secret") == "http://[::1]:8080");
    CHECK_MESSAGE(public_url("local:billing--secret") == "local:billing", "it is a token");
    CHECK(public_url("local:billingsecret") == "local:bill…");
    CHECK(public_url("secret") == "…");
}

TEST_CASE("the public part of a store URL has neither user nor password") {
    CHECK(without_password("redis://u:secret@a.example:1,b.example/3?timeout=9") ==
          "redis://***@a.example:1,b.example/3?timeout=9");
    CHECK(without_password("redis://:sec/re?t@a.example") == "redis://***@a.example");
    CHECK(without_password("redis://a.example/0") == "redis://a.example/0");
    CHECK(without_password("file:/var/lib/a@b/bus.db") == "file:/var/lib/a@b/bus.db");
}
