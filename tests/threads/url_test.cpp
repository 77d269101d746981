#include "routemaster/url.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

#include <ostream>
#include <string>
#include <string_view>

using namespace routemaster;

namespace {

/// The error of `check_url` without the name of the field; "good" for a valid URL.
std::string verdict(std::string_view url, UrlRule rule = UrlRule::https) {
    const auto checked = check_url(url, "url", rule);
    if (checked) return "good";
    CHECK(checked.error().code() == Errc::invalid);
    REQUIRE(checked.error().context().starts_with("url: "));
    return checked.error().context().substr(5);
}

/// Checks the longest URLs that repeat `part`, after each of several beginnings.
void check_long_ones(std::string_view part) {
    for (const std::string_view begin :
         {"https://", "https://h/", "x:", "https://[", "https://[v1.", "https://h:", "https://h#",
          "https://h?", "https://u:", ""}) {
        std::string url{begin};
        while (url.size() + part.size() <= url_length_max) url += part;
        (void)check_url(url, "url", UrlRule::any);
    }
}

}  // namespace

TEST_CASE("URLs accepted by Ruby Routemaster are accepted") {
    for (const auto* url :
         {"https://shop.example/orders/42", "HTTPS://shop.example/", "https://shop.example",
          "https://user:password@shop.example:8443/a#fragment", "https://[::1]:1/",
          "https://shop.example:/", "https://shop.example/%20;a=,+//b/../c", "https://[v1.x]/",
          "https://a_b.example/", "https://127.0.0.1/%20"}) {
        CHECK_MESSAGE(verdict(url) == "good", url);
    }
}

TEST_CASE("URLs checked without the full parser give the result of the full parser") {
    // A URL with a fragment is valid, and is parsed completely.
    constexpr std::string_view alphabet = "aZ09-._~/:@%?[]+,;=!$&'()*^ \\\"<\x7f\x80";
    for (const char first : alphabet) {
        for (const char second : alphabet) {
            for (const char third : alphabet) {
                const std::string url{'h', 't', 't', 'p', 's', ':', '/', '/', first, second, third};
                for (const auto rule : {UrlRule::https, UrlRule::any}) {
                    const bool good = verdict(url, rule) == "good";
                    REQUIRE_MESSAGE(good == (verdict(url + '#', rule) == "good"), url);
                }
            }
        }
    }
}

TEST_CASE("the error about a refused URL has Ruby Routemaster's words") {
    CHECK(verdict("") == "URL is missing");
    CHECK(verdict({}) == "URL is missing");
    CHECK(verdict("http://shop.example/") == "URL is not HTTPS");
    CHECK(verdict("shop.example") == "URL is not HTTPS");
    CHECK(verdict("//shop.example/") == "URL is not HTTPS");
    CHECK(verdict("https://shop.example/?") == "URL has query string");
    CHECK(verdict("https://shop.example/?a=b") == "URL has query string");
}

TEST_CASE("URLs without a host are refused") {
    for (const auto* url : {"https:", "https:shop.example", "https:/shop.example", "https://",
                            "https:///path", "https://?a", "https://#a", "https://u@:1/"}) {
        CHECK_MESSAGE(verdict(url) == "URL has no host", url);
        CHECK_MESSAGE(verdict(url, UrlRule::any) == "URL has no host", url);
    }
}

TEST_CASE("URLs that violate RFC 3986 are refused, and the error names the position") {
    for (const auto* url : {"https://shop.example/%",
                            "https://shop.example/%zz",
                            "https://shop.example/[x]",
                            "https://shop.example/a[",
                            "https://h#a#b",
                            "https://u@v@h",
                            "https://h:abc",
                            "https://h:-1",
                            "https://h:1:2",
                            "https://[::1",
                            "https://p%zz@h",
                            "https://[::gg]/",
                            "https://[1::2::3]/",
                            "https://[fe80::1%25eth0]/",
                            "https://a b/",
                            "https://a/\n",
                            "https://a/\xc3\xa4",
                            "https://a/\"",
                            "https://a/{}",
                            "https://a/\\",
                            "https://a/<b>",
                            "https://a/\x7f",
                            "https://a/^",
                            "https://a/`",
                            "https://a/|",
                            "1https://h",
                            ":"}) {
        CHECK_MESSAGE(verdict(url).starts_with("URL is malformed at byte "), url);
        CHECK_MESSAGE(verdict(url, UrlRule::any).starts_with("URL is malformed at byte "), url);
    }
    CHECK(verdict("https://shop.example/a b") == "URL is malformed at byte 23 (RFC 3986)");
    CHECK(verdict(std::string_view{"https://a/\0", 11}) ==
          "URL is malformed at byte 11 (RFC 3986)");
}

TEST_CASE("plain http is accepted only where allowed") {
    CHECK(verdict("http://127.0.0.1:1234/in", UrlRule::http) == "good");
    CHECK(verdict("https://127.0.0.1/in", UrlRule::http) == "good");
    CHECK(verdict("http://", UrlRule::http) == "URL has no host");
    CHECK(verdict("http://h/?a", UrlRule::http) == "URL has query string");
    CHECK(verdict("ftp://a/", UrlRule::http) == "URL is neither HTTPS nor HTTP");
}

TEST_CASE("a URL must have a scheme even if any URL is allowed") {
    for (const auto* url : {"https://shop.example/?a=b#c", "http://shop.example", "urn:isbn:1",
                            "mailto:a@shop.example", "s3://bucket/key", "file:///etc", "x:"}) {
        CHECK_MESSAGE(verdict(url, UrlRule::any) == "good", url);
    }
    for (const auto* url : {"shop.example", "/orders/42", "//shop.example/", "?a", "#a"}) {
        CHECK_MESSAGE(verdict(url, UrlRule::any) == "URL has no scheme", url);
    }
}

TEST_CASE("the length of a URL is limited, and the longest URLs need little stack") {
    const std::string start = "https://h/";
    const auto longest = start + std::string(url_length_max - start.size(), ',');
    CHECK(verdict(longest) == "good");
    CHECK(verdict(longest + ",") == "URL takes more than 8192 bytes");

    pthread_attr_t small;
    REQUIRE(pthread_attr_init(&small) == 0);
    REQUIRE(pthread_attr_setstacksize(&small, 128U << 10U) == 0);
    pthread_t thread{};
    const auto check_all = [](void*) -> void* {
        for (const char* part : {",", "/", "a", "%20", "@", ":", "a/", "1.", "[", "::"}) {
            check_long_ones(part);
        }
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &small, check_all, nullptr) == 0);
    CHECK(pthread_join(thread, nullptr) == 0);
    pthread_attr_destroy(&small);
}
