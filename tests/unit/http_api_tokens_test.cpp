#include <set>

#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

std::string generated(Scenario& bus, const std::string& name) {
    const auto answer = bus.post("/api_tokens", root, R"({"name":")" + name + R"("})");
    REQUIRE(answer.status == 201);
    return *rm::parse_json(answer.body).value().find("token")->get_if<std::string>();
}

}  // namespace

TEST_CASE("http api: tokens are listed as JSON, in the order of tokens") {
    Scenario bus;
    const auto answer = bus.get("/api_tokens", root);
    CHECK(answer.status == 200);
    CHECK(answer.content_type == "application/json");
    CHECK(answer.body ==
          R"([{"name":"billing","token":"billing--fedcba9876543210fedcba9876543210"},)"
          R"({"name":"shop","token":"shop--0123456789abcdef0123456789abcdef"}])");
}

TEST_CASE("http api: without tokens the list is empty") {
    Scenario bus;
    for (const char* token : {shop, billing}) done(bus.store, rm::RemoveToken{token});
    const auto answer = bus.get("/api_tokens", root);
    CHECK(answer.status == 200);
    CHECK(answer.body == "[]");
}

TEST_CASE("http api: a token is added, and can be added again with another name") {
    Scenario bus;
    for (const char* name : {"audit", "log"}) {
        const auto answer =
            bus.post("/api_tokens", root,
                     R"({"name":")" + std::string{name} + R"(","token":"audit--1","more":true})");
        CHECK(answer.status == 201);
        CHECK(answer.content_type == "application/json");
        CHECK(answer.body == R"({"token":"audit--1","name":")" + std::string{name} + R"("})");
        CHECK(done(bus.store, rm::FindToken{"audit--1"}) == std::string{name});
    }
    CHECK(bus.get("/topics", "audit--1").status == 200);
}

TEST_CASE("http api: a generated token is unique, and has the name of its owner and 32 digits") {
    Scenario bus;
    std::set<std::string> tokens;
    std::set<char> upper_digits;
    std::set<char> lower_digits;
    for (int i = 0; i < 50; ++i) {
        const auto token = generated(bus, "audit");
        REQUIRE(token.size() == 39);
        CHECK(token.starts_with("audit--"));
        CHECK(token.find_first_not_of("0123456789abcdef", 7) == std::string::npos);
        CHECK(done(bus.store, rm::FindToken{token}) == "audit");
        tokens.insert(token);
        for (std::size_t at = 7; at < token.size(); at += 2) {
            upper_digits.insert(token[at]);
            lower_digits.insert(token[at + 1]);
        }
    }
    CHECK(tokens.size() == 50);
    CHECK(upper_digits.size() == 16);
    CHECK(lower_digits.size() == 16);
    CHECK(bus.get("/topics", *tokens.begin()).status == 200);
}

TEST_CASE("http api: a token sent as null or false is generated") {
    Scenario bus;
    for (const std::string none : {"null", "false"}) {
        const auto answer =
            bus.post("/api_tokens", root, R"({"name":"audit","token":)" + none + "}");
        CHECK(answer.status == 201);
        CHECK(answer.body.starts_with(R"({"token":"audit--)"));
    }
}

TEST_CASE("http api: the longest name of a generated token has 30 characters") {
    Scenario bus;
    CHECK(generated(bus, std::string(30, 'n')).size() == 64);
    refused(bus,
            request("POST", "/api_tokens", root, R"({"name":")" + std::string(31, 'n') + R"("})"),
            400, "name: must be at most 30 characters if no token is given");
    CHECK(bus.post("/api_tokens", root, R"({"name":")" + std::string(64, 'n') + R"(","token":"t"})")
              .status == 201);
}

TEST_CASE("http api: an invalid token is refused with the name of the field, and changes nothing") {
    Scenario bus;
    const auto bad = [&](const std::string& body, const std::string& text) {
        refused(bus, request("POST", "/api_tokens", root, body), 400, text);
    };
    const std::string characters =
        ": contains invalid characters, or is not 1 to 64 of them: a-z, 0-9, :, _ and -";
    bad("{}", "name: requires a string");
    bad(R"({"name":null})", "name: requires a string");
    bad(R"({"name":5})", "name: requires a string");
    bad(R"({"name":""})", "name" + characters);
    bad(R"({"name":"Shop"})", "name" + characters);
    bad(R"({"name":"a\n"})", "name" + characters);
    bad(R"({"name":")" + std::string(65, 'n') + R"(","token":"t"})", "name" + characters);
    bad(R"({"name":"a","token":5})", "token: requires a string");
    bad(R"({"name":"a","token":true})", "token: requires a string");
    bad(R"({"name":"a","token":""})", "token" + characters);
    bad(R"({"name":"a","token":"B"})", "token" + characters);
    bad(R"({"name":"a","token":")" + std::string(65, 't') + R"("})", "token" + characters);
    bad(R"({"name":"a","token":"a:b"})",
        "token: contains invalid characters: ':' is not allowed in an HTTP Basic user name");
    bad(R"({"name":"a:b"})",
        "name: contains invalid characters: ':' is not allowed if no token is given");
    CHECK(bus.post("/api_tokens", root, R"({"name":"a:b","token":"t"})").status == 201);
}

TEST_CASE("http api: removing a token removes its subscriber, and always returns 204") {
    Scenario bus;
    done(bus.store, rm::Subscribe{billing, {"orders"}, {.callback = "https://b.example"}});
    const auto path = std::string{"/api_tokens/"} + billing;
    for (int i = 0; i < 2; ++i) {
        const auto answer = bus.remove(path, root);
        CHECK(answer.status == 204);
        CHECK(answer.body.empty());
        const auto left = holdings(bus.store);
        CHECK(left.subscribers.empty());
        CHECK(left.tokens == std::vector<rm::ApiToken>{{shop, "shop"}});
    }
}

TEST_CASE("http api: a token of an invalid form is treated as missing") {
    Scenario bus;
    const auto before = holdings(bus.store);
    for (const auto& token : std::vector<std::string>{"FOO", "a b", "\xff", std::string(100, 'a'),
                                                      std::string{"a\0b", 3}}) {
        CHECK(bus.remove("/api_tokens/" + token, root).status == 204);
    }
    CHECK(holdings(bus.store) == before);
}
