#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

struct Protected {
    const char* method;
    const char* path;
    const char* wanted;
    bool takes_client;
    bool takes_root;
};

// The answers of Ruby Routemaster, word for word.
const Protected protected_routes[] = {
    {"POST", "/topics/orders", "a client token", true, false},
    {"GET", "/topics", "a client token, or a root token", true, true},
    {"DELETE", "/topics/orders", "a client token, or a root token", true, true},
    {"POST", "/subscription", "a client token", true, false},
    {"POST", "/subscriber", "a client token", true, false},
    {"GET", "/subscriptions", "a root token, or a client token", true, true},
    {"GET", "/subscribers", "a root token, or a client token", true, true},
    {"DELETE", "/subscriber", "a root token, or a client token", true, true},
    {"DELETE", "/subscriber/topics/orders", "a root token, or a client token", true, true},
    {"GET", "/api_tokens", "a root token", false, true},
    {"POST", "/api_tokens", "a root token", false, true},
    {"DELETE", "/api_tokens/x", "a root token", false, true},
    {"GET", "/pulse", "a root token, or a client token", true, true},
    {"GET", "/pulse/scaling", "a root token, or a client token", true, true},
};

}  // namespace

TEST_CASE("http api: each route says which tokens it takes, and takes no other") {
    Scenario bus;
    for (const auto& route : protected_routes) {
        const auto asking = [&](const char* user) {
            return request(route.method, route.path, user);
        };
        const auto text = "this endpoint requires authentication with " + std::string{route.wanted};
        for (const char* user : {"", "stranger", "root-KEx", "root-KE", "root-KEYroot-KEY"}) {
            refused(bus, asking(user), 401, text);
        }
        if (!route.takes_client) refused(bus, asking(shop), 401, text);
        if (!route.takes_root) refused(bus, asking(root), 401, text);
        INFO(route.method << " " << route.path);
        if (route.takes_client) CHECK(bus.ask(asking(shop)).status != 401);
        if (route.takes_root) CHECK(bus.ask(asking(root)).status != 401);
    }
}

TEST_CASE("http api: a 401 asks for Basic") {
    Scenario bus;
    const auto answer = bus.get("/topics", "stranger");
    CHECK(answer.status == 401);
    CHECK(header(answer, "WWW-Authenticate") == "Basic");
    CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
}

TEST_CASE("http api: the health routes accept no Authorization header, not even an empty one") {
    Scenario bus;
    const std::string text = "this endpoint requires authentication with no token";
    for (const char* path : {"/health", "/health/ping", "/health/ping.json"}) {
        CHECK(bus.get(path, "").status == 200);
        refused(bus, request("GET", path, root), 401, text);
        refused(bus, request("GET", path, shop), 401, text);
        auto with_empty_header = request("GET", path, "");
        with_empty_header.has_authorization = true;
        refused(bus, with_empty_header, 401, text);
    }
}

TEST_CASE("http api: the user name is the token, and the password does not matter") {
    Scenario bus;
    const auto status = [&](const std::string& authorization) {
        auto asking = request("GET", "/topics", "");
        asking.has_authorization = true;
        asking.authorization = authorization;
        return bus.ask(asking).status;
    };
    const std::string token = shop;
    SUBCASE("whatever it is") {
        for (const char* password : {":", ":x", ":a:b", ":\xff\x01"}) {
            CHECK(status("Basic " + base64(token + password)) == 200);
        }
        CHECK(status("Basic " + base64(std::string{root} + ":")) == 200);
    }
    SUBCASE("but the colon must be there") {
        CHECK(status("Basic " + base64(token)) == 401);
        CHECK(status("Basic " + base64(root)) == 401);
        CHECK(status("Basic " + base64(":" + token)) == 401);
    }
    SUBCASE("the scheme may be written in any case") {
        CHECK(status("basic " + base64(token + ":x")) == 200);
        CHECK(status("BASIC  " + base64(token + ":x") + " ") == 200);
    }
    SUBCASE("the padding may be missing") {
        for (const char* password : {":", ":x", ":xy"}) {
            auto text = base64(token + password);
            while (text.ends_with('=')) text.pop_back();
            CHECK(status("Basic " + text) == 200);
        }
    }
    SUBCASE("other schemes, or text that is not Base64, are no credentials") {
        CHECK(status("Bearer " + base64(token + ":x")) == 401);
        CHECK(status("Basic" + base64(token + ":x")) == 401);
        CHECK(status("Basic " + token + ":x") == 401);
        CHECK(status("Basic *" + base64(token + ":x")) == 401);
        CHECK(status("Basic ") == 401);
        CHECK(status("Basic") == 401);
        CHECK(status("") == 401);
    }
}

TEST_CASE("http api: credentials are checked before the body is read") {
    Scenario bus;
    refused(bus, request("POST", "/topics/orders", "stranger", "{"), 401,
            "this endpoint requires authentication with a client token");
}

TEST_CASE("http api: a removed token is not valid") {
    Scenario bus;
    CHECK(bus.get("/topics", shop).status == 200);
    CHECK(bus.remove(std::string{"/api_tokens/"} + shop, root).status == 204);
    CHECK(bus.get("/topics", shop).status == 401);
}

TEST_CASE("http api: an unknown route is 404 for everyone, without a body") {
    Scenario bus;
    for (const auto& [method, path] : std::vector<std::pair<std::string, std::string>>{
             {"GET", "/"},
             {"GET", ""},
             {"GET", "*"},
             {"GET", "/topics/"},
             {"GET", "/topics/orders"},
             {"POST", "/topics/"},
             {"POST", "/topics/a/b"},
             {"POST", "/topics"},
             {"PUT", "/topics/orders"},
             {"PATCH", "/topics/orders"},
             {"OPTIONS", "/topics"},
             {"get", "/topics"},
             {"POST", "/subscribers"},
             {"POST", "/subscriptions"},
             {"DELETE", "/subscription"},
             {"GET", "/subscriber"},
             {"DELETE", "/subscriber/topics/"},
             {"DELETE", "/subscriber/topics"},
             {"DELETE", "/api_tokens"},
             {"DELETE", "/api_tokens/"},
             {"GET", "/api_token"},
             {"GET", "/pulse/"},
             {"POST", "/pulse"},
             {"GET", "/health/pingXjson"},
             {"HEAD", "/nothing"},
         }) {
        for (const char* user : {"", root, shop})
            refused(bus, request(method, path, user), 404, "");
    }
}

TEST_CASE("http api: HEAD answers as GET") {
    Scenario bus;
    for (const char* path : {"/topics", "/subscribers", "/api_tokens", "/pulse"}) {
        const auto head = bus.ask(request("HEAD", path, root));
        const auto get = bus.get(path, root);
        CHECK(head.status == get.status);
        CHECK(head.content_type == get.content_type);
    }
    CHECK(bus.ask(request("HEAD", "/health", "")).status == 200);
    CHECK(bus.ask(request("HEAD", "/topics", "")).status == 401);
}

TEST_CASE("http api: invalid options are refused") {
    rm::MemoryStore store;
    const auto refuses = [&](rm::HttpApiOptions options, const std::string& field) {
        try {
            const rm::HttpApi api{store, std::move(options)};
        } catch (const rm::Failure& failure) {
            CHECK(failure.code() == rm::Errc::invalid);
            return failure.error().context().starts_with(field + ":");
        }
        return false;
    };
    CHECK(refuses({.root_key = ""}, "root_key"));
    CHECK(refuses({.root_key = "a:b"}, "root_key"));
    CHECK(refuses({.root_key = "a", .topics_max = 0}, "topics_max"));
    CHECK(refuses({.root_key = "a", .job_bytes_max = rm::job_bytes_limit + 1}, "job_bytes_max"));
    CHECK(refuses({.root_key = "a", .scaling_deadline = rm::Duration{-1}}, "scaling_deadline"));
}

TEST_CASE("http api: admission decides as the route would") {
    Scenario bus;
    const auto authorized = [&](const rm::HttpRequest& head) {
        std::vector<rm::HttpResponse> answers;
        bus.api.authorize(head,
                          [&](rm::HttpResponse answer) { answers.push_back(std::move(answer)); });
        REQUIRE(answers.size() == 1);
        return answers.front();
    };
    for (const auto& route : protected_routes) {
        INFO(route.method << " " << route.path);
        for (const std::string user : {"", "stranger", shop, root}) {
            CAPTURE(user);
            const auto head = request(route.method, route.path, user);
            const auto answer = authorized(head);
            const bool welcome =
                (route.takes_client && user == shop) || (route.takes_root && user == root);
            CHECK(answer.status == (welcome ? 100 : 401));
            if (!welcome) CHECK(answer.body == bus.ask(head).body);
        }
    }
    CHECK(authorized(request("POST", "/nowhere", shop)).status == 404);
    CHECK(authorized(request("PUT", "/topics/orders", shop)).status == 404);
    CHECK(authorized(request("GET", "/health", "")).status == 100);
    CHECK(authorized(request("GET", "/health", shop)).status == 401);
}

TEST_CASE("http api: admission changes nothing") {
    Scenario bus;
    const auto before = holdings(bus.store);
    for (const auto& route : protected_routes) {
        for (const char* user : {shop, root}) {
            bus.api.authorize(request(route.method, route.path, user, an_event),
                              [](const rm::HttpResponse&) {});
        }
    }
    CHECK(holdings(bus.store) == before);
}
