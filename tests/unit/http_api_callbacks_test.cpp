#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

std::string body_with(const std::string& callback) {
    std::string body = R"({"topics":["orders"],"callback":)";
    rm::append_json_text(body, callback);
    return body + "}";
}

rm::HttpApiOptions lenient() {
    auto options = default_options();
    options.allow_http_callbacks = true;
    return options;
}

// A resolver or libcurl resolves all of these to this machine.
const char* const hosts_of_this_machine[] = {
    "localhost",
    "LocalHost",
    "localhost.",
    "localhost..",
    "a.localhost",
    "localhost.localdomain",
    "ip6-localhost",
    "ip6-loopback",
    "127.0.0.1",
    "127.0.0.1.",
    "127.255.1.2",
    "127.1",
    "127.0.1",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "0X7F000001",
    "2130706433",
    "017700000001",
    "0.0.0.0",
    "0",
    "0x0",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7f00:1]",
    "[::ffff:0.0.0.0]",
    "[::127.0.0.1]",
};

const char* const places_without_host[] = {"https://a.example:65536", "https://%6cocalhost/",
                                           "https://127.0.0.1%00.example/", "https://./"};

// These are invalid for all settings with a URL: all use the same grammar, and rules for a host.
const char* const no_urls[] = {
    "https://user@/in",
    "https://:443/in",
    "https://a.example:x/",
    "https://a.example:-1",
    "https://a.example:1:2",
    "https://a@b@a.example",
    "https://p%zz@a.example",
    "https://[::1",
    "https://[]/",
    "https://[1:2]/",
    "https://[::1]x/",
    "https://[::1]:x/",
    "https://a]/",
    "https://user:[@/",
    "https://a.example/%",
    "https://a.example/%zz",
    "https://a.example/[x]",
    "https://a.example/a[",
    "https://a.example/#a#b",
};

}  // namespace

TEST_CASE("http api: callbacks may have any host but this machine") {
    Scenario bus;
    for (const char* callback :
         {"https://b.example", "HTTPS://b.example/", "https://b.example:8443/in#part",
          "https://user:pass@b.example/in", "https://127.0.0.1.example/", "https://128.0.0.1/",
          "https://localhost.example/", "https://mylocalhost/", "https://10.0.0.1:/in",
          "https://[2001:db8::1]:443/", "https://[::ffff:10.0.0.1]/", "https://1.127/",
          "https://b.example/@127.0.0.1", "https://4294967296/"}) {
        INFO(callback);
        CHECK(bus.post("/subscription", billing, body_with(callback)).status == 204);
        CHECK(done(bus.store, rm::FindSubscriber{billing})->subscription.callback == callback);
    }
    for (const std::string host : hosts_of_this_machine) {
        for (const auto& callback :
             {"https://" + host, "https://" + host + "/in", "https://" + host + ":8443/in",
              "https://user:pass@" + host + "/", "https://b.example@" + host + "#x"}) {
            refused(bus, request("POST", "/subscription", billing, body_with(callback)), 400,
                    "callback: URL leads to this machine");
        }
    }
}

TEST_CASE("http api: callbacks over http or to this machine are accepted only where allowed") {
    Scenario bus{lenient()};
    for (const std::string host : hosts_of_this_machine) {
        const auto callback = "http://user:pass@" + host + ":8080/in";
        INFO(callback);
        CHECK(bus.post("/subscription", billing, body_with(callback)).status == 204);
        CHECK(done(bus.store, rm::FindSubscriber{billing})->subscription.callback == callback);
    }
    refused(bus, request("POST", "/subscription", billing, body_with("local:audit")), 400,
            "callback: URL is neither HTTPS nor HTTP");
    refused(bus, request("POST", "/subscription", billing, body_with("ftp://b.example")), 400,
            "callback: URL is neither HTTPS nor HTTP");
}

TEST_CASE("http api: a callback needs a host, and any port must be valid") {
    Scenario strict;
    Scenario permissive{lenient()};
    const auto refused_by_both = [&](const std::string& callback, const std::string& text) {
        const auto asking = request("POST", "/subscription", billing, body_with(callback));
        refused(strict, asking, 400, text);
        refused(permissive, asking, 400, text);
    };
    for (const char* callback : places_without_host) {
        refused_by_both(callback, "callback: URL has no valid host or port");
    }
    refused_by_both("https://[v1.x]/", "callback: URL has no valid host");
    for (const char* callback : no_urls) {
        refused_by_both(callback, rm::check_url(callback, "callback").error().context());
    }
}

TEST_CASE("http api: the length of a callback URL is limited") {
    Scenario bus;
    const std::string start = "https://b.example/";
    const auto longest = start + std::string(8192 - start.size(), 'p');
    CHECK(bus.post("/subscription", billing, body_with(longest)).status == 204);
    refused(bus, request("POST", "/subscription", billing, body_with(longest + "p")), 400,
            "callback: URL takes more than 8192 bytes");
}
