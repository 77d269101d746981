#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/route_table.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// The status of an admission for each kind of token. A wrong token gets 401 everywhere.
struct Rights {
    const char* wanted;
    int root;
    int client;
    int nobody;
};

// The words are those of Ruby Routemaster.
constexpr Rights no_token{"no token", 401, 401, 100};
constexpr Rights client_only{"a client token", 401, 100, 401};
constexpr Rights root_only{"a root token", 100, 401, 401};
constexpr Rights client_or_root{"a client token, or a root token", 100, 100, 401};
constexpr Rights root_or_client{"a root token, or a client token", 100, 100, 401};

struct RouteRights {
    std::string_view method;
    std::string_view path;
    Rights rights;
};

// Written by hand: a new route needs a new row.
constexpr RouteRights table[] = {
    {"POST", "/topics/:name", client_only},
    {"GET", "/topics", client_or_root},
    {"DELETE", "/topics/:name", client_or_root},
    {"POST", "/subscription", client_only},
    {"POST", "/subscriber", client_only},
    {"GET", "/subscriptions", root_or_client},
    {"GET", "/subscribers", root_or_client},
    {"DELETE", "/subscriber", root_or_client},
    {"DELETE", "/subscriber/topics/:name", root_or_client},
    {"GET", "/subscriber/dead", client_only},
    {"GET", "/subscriber/dead/:uid", client_only},
    {"POST", "/subscriber/dead/redeliver", client_only},
    {"POST", "/subscriber/dead/:uid/redeliver", client_only},
    {"DELETE", "/subscriber/dead", client_only},
    {"DELETE", "/subscriber/dead/:uid", client_only},
    {"GET", "/subscribers/:token/dead", root_only},
    {"GET", "/subscribers/:token/dead/:uid", root_only},
    {"POST", "/subscribers/:token/dead/redeliver", root_only},
    {"POST", "/subscribers/:token/dead/:uid/redeliver", root_only},
    {"DELETE", "/subscribers/:token/dead", root_only},
    {"DELETE", "/subscribers/:token/dead/:uid", root_only},
    {"GET", "/api_tokens", root_only},
    {"POST", "/api_tokens", root_only},
    {"DELETE", "/api_tokens/:token", root_only},
    {"GET", "/v1/queues", root_only},
    {"GET", "/v1/queues/:queue", root_only},
    {"POST", "/v1/queues/:queue/pause", root_only},
    {"POST", "/v1/queues/:queue/resume", root_only},
    {"PUT", "/v1/queues/:queue/rate_limits", root_only},
    {"GET", "/v1/queues/:queue/throughput", root_only},
    {"GET", "/v1/workers", root_only},
    {"POST", "/v1/queues/:queue/kick", root_only},
    {"POST", "/v1/queues/:queue/jobs", root_only},
    {"GET", "/v1/queues/:queue/jobs", root_only},
    {"GET", "/v1/queues/:queue/jobs/:id", root_only},
    {"GET", "/v1/queues/:queue/jobs/:id/explanation", root_only},
    {"DELETE", "/v1/queues/:queue/jobs/:id", root_only},
    {"POST", "/v1/queues/:queue/jobs/:id/kick", root_only},
    {"POST", "/v1/queues/:queue/jobs/:id/cancel", root_only},
    {"POST", "/v1/queues/:queue/lease", root_only},
    {"POST", "/v1/queues/:queue/jobs/:id/extend", root_only},
    {"POST", "/v1/queues/:queue/jobs/:id/ack", root_only},
    {"POST", "/v1/queues/:queue/jobs/:id/nack", root_only},
    {"POST", "/v1/queues/:queue/jobs/:id/release", root_only},
    {"GET", "/v1/subscriber/batches", client_only},
    {"GET", "/v1/subscriber/batches/:uid", client_only},
    {"GET", "/v1/subscriber/batches/:uid/explanation", client_only},
    {"POST", "/v1/subscriber/batches/:uid/deliver", client_only},
    {"DELETE", "/v1/subscriber/batches/:uid", client_only},
    {"GET", "/v1/subscribers/:token/batches", root_only},
    {"GET", "/v1/subscribers/:token/batches/:uid", root_only},
    {"GET", "/v1/subscribers/:token/batches/:uid/explanation", root_only},
    {"POST", "/v1/subscribers/:token/batches/:uid/deliver", root_only},
    {"DELETE", "/v1/subscribers/:token/batches/:uid", root_only},
    {"GET", "/v1/recurring", root_only},
    {"GET", "/v1/recurring/:name", root_only},
    {"GET", "/v1/recurring/:name/explanation", root_only},
    {"PUT", "/v1/recurring/:name", root_only},
    {"DELETE", "/v1/recurring/:name", root_only},
    {"POST", "/v1/recurring/:name/pause", root_only},
    {"POST", "/v1/recurring/:name/resume", root_only},
    {"POST", "/v1/recurring/:name/run", root_only},
    {"POST", "/v1/timers/:space", root_only},
    {"GET", "/v1/timers/:space", root_only},
    {"GET", "/v1/timer_counts/:space", root_only},
    {"GET", "/v1/timer_explanations/:space/*id", root_only},
    {"GET", "/v1/timers/:space/*id", root_only},
    {"DELETE", "/v1/timers/:space/*id", root_only},
    {"POST", "/v1/timers/:space/postpone", root_only},
    {"POST", "/v1/timers/:space/confirm", root_only},
    {"POST", "/v1/timers/:space/take", root_only},
    {"POST", "/v1/timers/:space/repost", root_only},
    {"POST", "/v1/timers/:space/drop", root_only},
    {"POST", "/v1/actions", root_only},
    {"POST", "/v1/job-batches", root_only},
    {"GET", "/v1/job-batches", root_only},
    {"GET", "/v1/job-batches/:id", root_only},
    {"DELETE", "/v1/job-batches/:id", root_only},
    {"POST", "/v1/job-batches/:id/close", root_only},
    {"GET", "/pulse", root_or_client},
    {"GET", "/pulse/scaling", root_or_client},
    {"GET", "/health", no_token},
    {"GET", "/health/ping", no_token},
    {"GET", "/health/ping.json", no_token},
};

/// A path of a route, with a value for each parameter.
std::string example_path(std::string_view pattern) {
    std::string path;
    while (!pattern.empty()) {
        pattern.remove_prefix(1);
        const auto segment = pattern.substr(0, pattern.find('/'));
        pattern.remove_prefix(segment.size());
        const bool parameter = segment.starts_with(':') || segment.starts_with('*');
        path += '/';
        path += segment == ":token" ? shop : parameter ? "7" : segment;
    }
    return path;
}

rm::HttpResponse admission(Scenario& bus, rm::HttpRequest head) {
    std::vector<rm::HttpResponse> answers;
    bus.api.authorize(std::move(head),
                      [&](rm::HttpResponse answer) { answers.push_back(std::move(answer)); });
    REQUIRE(answers.size() == 1);
    return answers.front();
}

/// Checks the admission of a request and the response.
void check_rights(const rm::HttpRequest& request, const Rights& rights, int status) {
    Scenario bus;
    INFO(request.method << " " << request.path << " " << request.authorization);
    const auto admitted = admission(bus, request);
    CHECK(admitted.status == status);
    if (status == 401) {
        refused(bus, request, 401,
                "this endpoint requires authentication with " + std::string{rights.wanted});
        CHECK(admitted.body == bus.ask(request).body);
    } else {
        CHECK(bus.ask(request).status != 401);
    }
}

}  // namespace

TEST_CASE("http api: the table of access rights contains each route once") {
    using Name = std::pair<std::string_view, std::string_view>;
    std::vector<Name> routes;
    for (const auto& route : rm::api::routes) routes.emplace_back(route.method, route.path);
    std::vector<Name> rows;
    for (const auto& row : table) rows.emplace_back(row.method, row.path);
    std::sort(routes.begin(), routes.end());
    std::sort(rows.begin(), rows.end());
    const auto missing_from = [](const std::vector<Name>& all, const std::vector<Name>& some) {
        std::vector<Name> missing;
        std::set_difference(all.begin(), all.end(), some.begin(), some.end(),
                            std::back_inserter(missing));
        std::string text;
        for (const auto& [method, path] : missing) {
            text.append(method).append(" ").append(path).append("; ");
        }
        return text;
    };
    CHECK(missing_from(routes, rows) == "");
    CHECK(missing_from(rows, routes) == "");
    CHECK(rows == routes);
}

TEST_CASE("http api: each route accepts exactly the tokens that its access rights name") {
    for (const auto& [method, pattern, rights] : table) {
        const auto path = example_path(pattern);
        std::vector<std::string> methods{std::string{method}};
        if (method == "GET") methods.emplace_back("HEAD");
        for (const auto& each : methods) {
            check_rights(request(each, path, root), rights, rights.root);
            check_rights(request(each, path, shop), rights, rights.client);
            check_rights(request(each, path, ""), rights, rights.nobody);
            for (const char* wrong : {"stranger", "root-KEx", "root-KE", "root-KEYroot-KEY"}) {
                check_rights(request(each, path, wrong), rights, 401);
            }
        }
    }
}

TEST_CASE("http api: a 401 response asks for Basic authentication") {
    Scenario bus;
    const auto answer = bus.get("/topics", "stranger");
    CHECK(answer.status == 401);
    CHECK(header(answer, "WWW-Authenticate") == "Basic");
    CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
}

TEST_CASE("http api: the health routes refuse every Authorization header, even an empty header") {
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

TEST_CASE(
    "http api: the user name of the credentials is the token, and the password does not matter") {
    Scenario bus;
    const auto status = [&](const std::string& authorization) {
        auto asking = request("GET", "/topics", "");
        asking.has_authorization = true;
        asking.authorization = authorization;
        return bus.ask(asking).status;
    };
    const std::string token = shop;
    SUBCASE("the password may be anything") {
        for (const char* password : {":", ":x", ":a:b", ":\xff\x01"}) {
            CHECK(status("Basic " + base64(token + password)) == 200);
        }
        CHECK(status("Basic " + base64(std::string{root} + ":")) == 200);
    }
    SUBCASE("the colon after the user name is required") {
        CHECK(status("Basic " + base64(token)) == 401);
        CHECK(status("Basic " + base64(root)) == 401);
        CHECK(status("Basic " + base64(":" + token)) == 401);
    }
    SUBCASE("the scheme is accepted in upper and lower case") {
        CHECK(status("basic " + base64(token + ":x")) == 200);
        CHECK(status("BASIC  " + base64(token + ":x") + " ") == 200);
    }
    SUBCASE("the padding of the Base64 may be missing") {
        for (const char* password : {":", ":x", ":xy"}) {
            auto text = base64(token + password);
            while (text.ends_with('=')) text.pop_back();
            CHECK(status("Basic " + text) == 200);
        }
    }
    SUBCASE("credentials with another scheme, or not in Base64, are refused") {
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

TEST_CASE("http api: HEAD responds like GET") {
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

TEST_CASE("http api: invalid options of the HTTP API are refused") {
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

TEST_CASE("http api: unknown routes and needless tokens are refused before the body is read") {
    Scenario bus;
    const auto status = [&](const char* method, const char* path, const char* user) {
        return admission(bus, request(method, path, user)).status;
    };
    CHECK(status("POST", "/nowhere", shop) == 404);
    CHECK(status("PUT", "/topics/orders", shop) == 404);
    CHECK(status("GET", "/health", "") == 100);
    CHECK(status("GET", "/health", shop) == 401);
}

TEST_CASE("http api: deciding whether to read the body of a request changes nothing") {
    Scenario bus;
    const auto before = holdings(bus.store);
    for (const auto& route : table) {
        for (const char* user : {shop, root}) {
            admission(bus,
                      request(std::string{route.method}, example_path(route.path), user, an_event));
        }
    }
    CHECK(holdings(bus.store) == before);
}
