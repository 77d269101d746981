#include "http/http_posts.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/system/waker.hpp"

using namespace routemaster;
using namespace routemaster::detail;

TEST_CASE("POSTs that end together are reported together") {
    const HttpTransportOptions options{.allow_http = true, .allow_loopback = true};
    ThisMachine machine;
    const Waker waker;
    HttpPosts posts{options, machine, waker};
    const std::string nobody = "http://127.0.0.1:1/";
    std::vector<std::size_t> under_way;
    for (int i = 0; i < 3; ++i) {
        posts.start(
            {.url = nobody, .body = {.json = "[]"}, .done = [&](const DeliveryReport& report) {
                 CHECK(!report.outcome);
                 under_way.push_back(posts.size());
             }});
    }
    for (int turns = 0; under_way.size() < 3 && turns < 100; ++turns) {
        posts.advance();
        if (under_way.size() < 3) posts.wait(100);
    }
    REQUIRE(under_way.size() == 3);
    CHECK(under_way.front() == 0);
}
