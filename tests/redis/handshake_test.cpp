// The link's handling of a server's replies, without a server.

#include "redis/handshake.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redis/address_rotation.hpp"
#include "redis/backoff.hpp"
#include "redis/error_reply.hpp"
#include "redis/wire.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/time.hpp"

using namespace routemaster;

namespace {

std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}

std::string info(const std::string& version) {
    return bulk("# Server\r\nredis_version:" + version + "\r\nredis_mode:standalone\r\n");
}

const std::string master = "*3\r\n" + bulk("master") + ":0\r\n*0\r\n";
const std::string loaded = bulk("63143b6f8007b98c53ca2149822777b3566f9241");

/// The result of a handshake with these replies, without password and name.
struct Greeting {
    explicit Greeting(const std::string& replies) {
        RedisOptions options;
        options.client_name.clear();
        redis::Handshake handshake{options};
        redis::ReplyParser parser;
        parser.feed(replies);
        while (auto reply = *parser.next()) {
            outcome = handshake.take(*reply);
            if (outcome) break;
        }
        master = handshake.master();
    }

    std::optional<Result<void>> outcome;
    std::optional<RedisAddress> master;
};

std::string refusal(const std::string& replies) {
    const Greeting greeting{replies};
    REQUIRE(greeting.outcome);
    REQUIRE_FALSE(*greeting.outcome);
    return greeting.outcome->error().code().message() + ": " + greeting.outcome->error().context();
}

using Kind = redis::ErrorReply::Kind;

redis::ErrorReply read(std::string_view text) {
    return redis::parse_error_reply(text, {"here.example", 7'000});
}

}  // namespace

TEST_CASE("handshake: a Redis master of version 7 or newer is accepted") {
    for (const auto* version : {"7.0.0", "7.2.4", "8.0.1", "10.0.0"}) {
        const Greeting greeting{info(version) + master + loaded};
        REQUIRE(greeting.outcome);
        CHECK(*greeting.outcome);
    }
    CHECK_FALSE(Greeting{info("7.0.0") + master}.outcome);
}

TEST_CASE("handshake: a Redis server of an older version is refused without retries") {
    CHECK(refusal(info("6.2.14") + master) ==
          "invalid: Redis 6.2.14 is too old: 7.0 or newer is needed");
    CHECK(refusal(bulk("# Server\r\n")) == "unavailable: the server does not report its version");
}

TEST_CASE("handshake: a replica is refused, and reports the address of its master") {
    const Greeting greeting{info("7.0.0") + "*5\r\n" + bulk("slave") + bulk("10.0.0.7") +
                            ":7001\r\n" + bulk("connected") + ":14\r\n"};
    REQUIRE(greeting.outcome);
    CHECK(greeting.outcome->error().context() == "this is a replica of 10.0.0.7:7001");
    CHECK(greeting.master == RedisAddress{"10.0.0.7", 7'001});
}

TEST_CASE("handshake: a sentinel is not mistaken for a Redis server") {
    CHECK(refusal(info("7.0.0") + "*2\r\n" + bulk("sentinel") + "*0\r\n") ==
          "invalid: this is a sentinel: name the master it watches");
}

TEST_CASE("handshake: the error reply of a server is reported word for word") {
    CHECK(refusal("-NOAUTH Authentication required.\r\n") ==
          "unavailable: NOAUTH Authentication required.");
    CHECK(refusal(info("7.0.0") + "-NOPERM this user may not\r\n") ==
          "unavailable: NOPERM this user may not");
    CHECK(refusal(info("7.0.0") + master + "-LOADING it reads its dataset\r\n") ==
          "unavailable: LOADING it reads its dataset");
}

TEST_CASE("error reply: a call that the server refused because of its state may be retried") {
    for (const std::string word :
         {"OOM", "BUSY", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "MISCONF", "UNKILLABLE",
          "EXECABORT", "NOPERM", "WRONGPASS", "DENIED"}) {
        CAPTURE(word);
        const auto refused = read(word + " for some reason");
        CHECK(refused.kind == Kind::report);
        CHECK(refused.error.code() == Errc::unavailable);
        CHECK(refused.error.context() == word + " for some reason");
    }
    CHECK(read("ERR max number of clients reached").error.code() == Errc::unavailable);
}

TEST_CASE("error reply: a reply from the wrong server makes the link reconnect") {
    for (const std::string word : {"READONLY", "LOADING", "MASTERDOWN", "NOAUTH"}) {
        CAPTURE(word);
        CHECK(read(word + " for some reason").kind == Kind::reconnect);
        CHECK(read(word + " for some reason").error.code() == Errc::unavailable);
    }
}

TEST_CASE(
    "error reply: any other error is reported as an error of the script, except errors marked "
    "INVALID") {
    CHECK(read("ERR something").error.code() == Errc::corrupted);
    CHECK(read("WRONGTYPE it is").error.code() == Errc::corrupted);
    CHECK(read("OOMPH").error.code() == Errc::corrupted);
    CHECK(read("").error.code() == Errc::corrupted);
    CHECK(read("NOPERM no right to 'rpush' script: 5a, on @user_script:1.").error.code() ==
          Errc::corrupted);
    CHECK(read("INVALID topic 'x y'").error.code() == Errc::invalid);
    CHECK(read("INVALID topic 'x y'").error.context() == "topic 'x y'");
    CHECK(read("INVALIDATED").error.code() == Errc::corrupted);
}

TEST_CASE("error reply: while a slot is moved, each call with a key of the slot waits") {
    for (const auto* text : {"ASK 3999 there.example:6381", "MOVING the slot is being moved"}) {
        CHECK(read(text).kind == Kind::slot_moving);
        CHECK(read(text).error.code() == Errc::unavailable);
    }
}

TEST_CASE("error reply: a redirection names the next server") {
    const auto moved = read("MOVED 3999 127.0.0.1:6381");
    CHECK(moved.kind == Kind::moved);
    CHECK(moved.to == RedisAddress{"127.0.0.1", 6'381});
    CHECK(read("MOVED 3999 fe80::1:6381").to == RedisAddress{"fe80::1", 6'381});
    CHECK(read("MOVED 3999 :6381").to == RedisAddress{"here.example", 6'381});
    for (const auto* odd : {"MOVED", "MOVED 3999", "MOVED 3999 host",
                            "MOVED 3999 host:", "MOVED 3999 host:66000", "MOVED 1 host:6381x"}) {
        CAPTURE(odd);
        CHECK(read(odd).kind == Kind::report);
        CHECK(read(odd).error.code() == Errc::unavailable);
    }
}

TEST_CASE(
    "address rotation: configured addresses come first, then suggested addresses, each once") {
    const auto at = [](std::uint16_t port) { return RedisAddress{"host", port}; };
    redis::AddressRotation rotation{{at(1), at(2), at(3)}};
    rotation.begin({at(9), at(2)});
    CHECK(rotation.next() == at(9));
    CHECK(rotation.next() == at(2));
    rotation.suggest(at(9));
    rotation.suggest(at(8));
    CHECK(rotation.next() == at(8));
    CHECK(rotation.next() == at(1));
    CHECK(rotation.next() == at(3));
    CHECK_FALSE(rotation.next());

    rotation.prefer(at(3));
    rotation.prefer(at(7));
    rotation.begin({});
    CHECK(rotation.next() == at(3));
    CHECK(rotation.next() == at(1));
    CHECK(rotation.next() == at(2));
    CHECK_FALSE(rotation.next());
}

TEST_CASE("address rotation: servers that point to one another do not cause an endless rotation") {
    redis::AddressRotation rotation{{{"host", 1}}};
    rotation.begin({});
    int tried = 0;
    for (std::uint16_t port = 2; rotation.next(); ++port) {
        ++tried;
        rotation.suggest({"host", port});
        REQUIRE(tried < 100);
    }
    CHECK(tried < 10);
}

TEST_CASE("backoff: waits double from 50 ms to 2 s, each reduced at random by up to a half") {
    redis::Backoff backoff{7};
    for (int round = 0; round < 2; ++round) {
        for (const std::int64_t whole : {50, 100, 200, 400, 800, 1'600, 2'000, 2'000, 2'000}) {
            const auto pause = backoff.next();
            CHECK(pause >= Duration{whole / 2});
            CHECK(pause <= Duration{whole});
        }
        backoff.reset();
    }
    redis::Backoff other{8};
    CHECK(redis::Backoff{7}.next() != other.next());
}
