#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "routemaster/store/redis.hpp"

using namespace routemaster;

namespace {

RedisOptions parsed(std::string_view url) { return parse_redis_url(url).value(); }

std::string complaint(std::string_view url) {
    const auto options = parse_redis_url(url);
    if (options) return "no complaint";
    CHECK(options.error().code() == Errc::invalid);
    return options.error().context();
}

using Addresses = std::vector<RedisAddress>;

}  // namespace

TEST_CASE("a Redis URL with only a host has defaults for all other settings") {
    const auto options = parsed("redis://queue.example");
    CHECK(options.addresses == Addresses{{"queue.example", 6'379}});
    CHECK(options.user.empty());
    CHECK(options.password.empty());
    CHECK(options.database == 0);
    CHECK_FALSE(options.tls);
    CHECK(options.sentinel_master.empty());
    CHECK(options.prefix.empty());
    CHECK_FALSE(options.mixed_fleet);
    CHECK(options.timeout == RedisOptions{}.timeout);
}

TEST_CASE("a Redis URL can set port, database, user and password") {
    const auto options = parsed("redis://bus:secret@10.0.0.7:7000/12");
    CHECK(options.addresses == Addresses{{"10.0.0.7", 7'000}});
    CHECK(options.user == "bus");
    CHECK(options.password == "secret");
    CHECK(options.database == 12);
    CHECK(parsed("redis://:secret@host").user.empty());
    CHECK(parsed("redis://:secret@host/").password == "secret");
    CHECK(parsed("redis://host/").database == 0);
}

TEST_CASE("a Redis URL can set several servers, also by their IPv6 addresses") {
    CHECK(parsed("redis://a,b:7001,[::1],[fe80::2]:7002/1").addresses ==
          Addresses{{"a", 6'379}, {"b", 7'001}, {"::1", 6'379}, {"fe80::2", 7'002}});
}

TEST_CASE("a rediss URL uses TLS, with the certificate authorities of the system or of a file") {
    CHECK(parsed("rediss://host").tls);
    CHECK(parsed("rediss://host").tls_ca_file.empty());
    CHECK(parsed("rediss://host?ca_file=%2Fetc%2Fours.pem").tls_ca_file == "/etc/ours.pem");
    CHECK(parsed("rediss+sentinel://host/main").tls);
}

TEST_CASE("a redis+sentinel URL sets the sentinels and the name of their master") {
    const auto options = parsed("redis+sentinel://:pw@a,b:26380/main/3");
    CHECK(options.addresses == Addresses{{"a", 26'379}, {"b", 26'380}});
    CHECK(options.sentinel_master == "main");
    CHECK(options.database == 3);
    CHECK(options.password == "pw");
    CHECK_FALSE(options.tls);
    CHECK(parsed("redis+sentinel://a/main").database == 0);
}

TEST_CASE("the settings of a Redis URL follow a question mark") {
    const auto options = parsed("redis://host?prefix={bus}:&mixed_fleet=yes&timeout=750");
    CHECK(options.prefix == "{bus}:");
    CHECK(options.mixed_fleet);
    CHECK(options.timeout == Duration{750});
    CHECK_FALSE(parsed("redis://host?mixed_fleet=no").mixed_fleet);
    CHECK(parsed("redis://host?prefix=").prefix.empty());
    CHECK(parsed("redis://host?").prefix.empty());
}

TEST_CASE("names and values of a Redis URL may be percent-encoded") {
    const auto options = parsed("redis://us%3Aer:p%40ss%2Fw%25@ho%73t?pref%69x=a%26b%3d");
    CHECK(options.user == "us:er");
    CHECK(options.password == "p@ss/w%");
    CHECK(options.addresses == Addresses{{"host", 6'379}});
    CHECK(options.prefix == "a&b=");
    CHECK(parsed("redis://u:p@ss@host").password == "p@ss");
}

TEST_CASE("an invalid Redis URL is refused, and the error gives the reason") {
    CHECK(complaint("http://host").find("begin it with") != std::string::npos);
    CHECK(complaint("redis:host").find("begin it with") != std::string::npos);
    CHECK(complaint("redissss://host").find("begin it with") != std::string::npos);
    CHECK(complaint("").find("begin it with") != std::string::npos);
    CHECK(complaint("redis://") == "Redis URL: a host is missing");
    CHECK(complaint("redis://a,,b") == "Redis URL: a host is missing");
    CHECK(complaint("redis://a,") == "Redis URL: a host is missing");
    CHECK(complaint("redis://[]:1") == "Redis URL: a host is missing");
    CHECK(complaint("redis://[::1").find("no ']'") != std::string::npos);
    CHECK(complaint("redis://[::1]7").find("malformed address") != std::string::npos);
    for (const auto* port : {"", "0", "65536", "-1", "6379x", "x"}) {
        CAPTURE(port);
        const auto why = complaint("redis://host:" + std::string{port});
        CHECK(why == "Redis URL: the port '" + std::string{port} + "' is not a number in 1..65535");
    }
    CHECK(complaint("redis://::1").find("in brackets") != std::string::npos);
    CHECK(complaint("redis://host/x") == "Redis URL: the database 'x' is not a number");
    CHECK(complaint("redis://host/-1") == "Redis URL: the database '-1' is not a number");
    CHECK(complaint("redis://host/1/2") == "Redis URL: the database '1/2' is not a number");
    CHECK(complaint("redis://user@host").find("user:password@") != std::string::npos);
    CHECK(complaint("redis://user:@host").find("password is empty") != std::string::npos);
    CHECK(complaint("redis+sentinel://host").find("name the master") != std::string::npos);
    CHECK(complaint("redis+sentinel://host//1").find("name the master") != std::string::npos);
    CHECK(complaint("redis://host?retry=1").find("no setting 'retry'") != std::string::npos);
    CHECK(complaint("redis://host?mixed_fleet=1").find("yes or no") != std::string::npos);
    CHECK(complaint("redis://host?mixed_fleet").find("has no value") != std::string::npos);
    CHECK(complaint("redis://host?prefix=a&prefix=b").find("twice") != std::string::npos);
    CHECK(complaint("redis://host?ca_file=x").find("rediss://") != std::string::npos);
    for (const auto* timeout : {"", "0", "-5", "1s", "99999999999"}) {
        CAPTURE(timeout);
        const auto why = complaint("redis://host?timeout=" + std::string{timeout});
        CHECK(why.find("number of milliseconds") != std::string::npos);
    }
    for (const auto* bad : {"redis://ho%7st", "redis://:%@host", "redis://host?prefix=%-1"}) {
        CAPTURE(bad);
        CHECK(complaint(bad).find("two hexadecimal digits") != std::string::npos);
    }
}

TEST_CASE("an error about a Redis URL does not reveal its password") {
    for (const auto* url :
         {"redis://:s3cret@host:x", "redis://:s3cret@", "redis://:s3cret@host/x",
          "redis://:s3cret@host?x=1", "redis://:s3cret%2@host", "redis:/:s3cret@host",
          "redis://u:s3cret/x@host", "redis://u:x/s3cret@host", "redis://u:s3cret?x@host",
          "redis://u/s3cret@host", "redis://u:a:s3cret/@host", "redis://[s3cret/@host"}) {
        CAPTURE(url);
        CHECK(complaint(url).find("s3cret") == std::string::npos);
    }
}
