#include "http/http_posts.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/system/waker.hpp"
#include "http/target.hpp"
#include "support/full_listener.hpp"
#include "support/http2_receiver.hpp"
#include "support/scripted_receiver.hpp"

using namespace routemaster;
using namespace routemaster::detail;
using namespace std::chrono_literals;
using test::ReceivedRequest;
using test::ScriptedReceiver;

namespace {

constexpr Duration connect_timeout = 500ms;

struct Scene {
    explicit Scene(Duration timeout = 20s, std::size_t response_max = 1U << 20U)
        : options{.connect_timeout = connect_timeout,
                  .total_timeout = timeout,
                  .response_max = response_max} {}

    /// Posts `count` times, and counts successful deliveries.
    void post_many(const std::string& url, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            post(url, [this](const DeliveryReport& report) {
                if (!report.outcome) FAIL_CHECK(report.outcome.error().message());
                ++delivered;
            });
        }
    }

    void post(const std::string& url, DeliveryDone done, std::string body = "[]") {
        posts.start({.url = url,
                     .body = {.json = std::move(body)},
                     .done = std::move(done),
                     .parsed = target_of(url).value().parsed});
    }

    [[nodiscard]] std::chrono::nanoseconds age() const {
        return std::chrono::steady_clock::now() - begun;
    }

    /// Iterates until `done`, or until a limit that indicates an error.
    void turn_until(const std::function<bool()>& done) {
        for (int turns = 0; !done() && turns < 1'000; ++turns) {
            posts.advance();
            if (!done()) posts.wait(10);
        }
        REQUIRE(done());
    }

    const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
    HttpTransportOptions options;
    ThisMachine machine;
    const Waker waker;
    std::size_t delivered = 0;
    HttpPosts posts{allow_here(options), machine, waker};

private:
    static const HttpTransportOptions& allow_here(HttpTransportOptions& options) {
        options.allow_http = options.allow_loopback = true;
        options.verify_tls = false;
        options.http2 = true;
        return options;
    }
};

}  // namespace

TEST_CASE("POSTs that end at the same time are reported together") {
    Scene scene;
    std::vector<std::size_t> under_way;
    for (int i = 0; i < 3; ++i) {
        scene.post("http://127.0.0.1:1/", [&](const DeliveryReport& report) {
            CHECK(!report.outcome);
            under_way.push_back(scene.posts.size());
        });
    }
    scene.turn_until([&] { return under_way.size() == 3; });
    CHECK(under_way.front() == 0);
}

TEST_CASE("of many overdue POSTs, only a few end in each iteration of the event loop") {
    constexpr std::size_t count = 40;
    std::size_t received = 0;
    std::mutex mutex;
    const ScriptedReceiver receiver{[&](const ReceivedRequest&) {
        const std::lock_guard lock{mutex};
        ++received;
        return test::silence();
    }};
    Scene scene{1s};
    std::size_t ended = 0;
    for (std::size_t i = 0; i < count; ++i) {
        scene.post(receiver.url(), [&](const DeliveryReport& report) {
            REQUIRE(!report.outcome);
            CHECK(report.outcome.error().code() == Errc::timed_out);
            CHECK(report.outcome.error().context() == "no answer within 1000 ms");
            ++ended;
        });
    }
    scene.turn_until([&] {
        const std::lock_guard lock{mutex};
        return received == count && scene.age() > connect_timeout + 100ms;
    });
    std::this_thread::sleep_for(1s);
    REQUIRE(scene.posts.due());
    // In some iterations no POST may end, because libcurl handles late connections.
    for (std::size_t turns = 0; turns < count / 2 && scene.posts.size() > 0; ++turns) {
        CHECK(*scene.posts.due() <= std::chrono::steady_clock::now());
        const auto before = ended;
        scene.posts.advance();
        CHECK(ended <= before + 4);
    }
    CHECK(ended == count);
    CHECK(scene.posts.size() == 0);
    CHECK(!scene.posts.due());
}

TEST_CASE("a response that arrived in time counts, even if it is read after the timeout") {
    std::atomic<bool> received = false;
    std::promise<void> answer;
    const ScriptedReceiver receiver{[&](const ReceivedRequest&) {
        received = true;
        answer.get_future().wait();
        return test::status(200);
    }};
    Scene scene{1'500ms};
    scene.post_many(receiver.url(), 1);
    // Also until the end of the connect timeout, when libcurl checks the socket.
    scene.turn_until([&] { return received && scene.age() > connect_timeout; });
    answer.set_value();
    std::this_thread::sleep_for(1'200ms);
    scene.posts.advance();
    CHECK(scene.delivered == 1);
}

TEST_CASE("connecting has a separate timeout") {
    const test::FullListener nobody;
    Scene scene;
    std::string error;
    scene.post("http://127.0.0.1:" + std::to_string(nobody.port()) + "/",
               [&](const DeliveryReport& report) { error = report.outcome.error().message(); });
    scene.turn_until([&] { return scene.age() > connect_timeout / 2; });
    CHECK(error == "");
    scene.turn_until([&] { return !error.empty(); });
    CHECK(error == "no connection within 500 ms: timed out");
}

TEST_CASE(
    "a response over HTTP/2 that arrived in time counts, even if it is read after the timeout") {
    constexpr std::size_t count = 10;
    const test::Http2Receiver receiver{20'000};
    Scene scene{1'500ms};
    scene.post_many(receiver.url(), 1);
    scene.turn_until([&] { return scene.delivered == 1; });
    const auto connected = scene.age();
    receiver.freeze();
    scene.post_many(receiver.url(), count);
    scene.turn_until([&] { return scene.age() > connected + connect_timeout + 100ms; });
    receiver.thaw();
    std::this_thread::sleep_for(1'200ms);
    for (int turns = 0; turns < 3; ++turns) scene.posts.advance();
    CHECK(scene.delivered == 1 + count);
}

TEST_CASE(
    "data of other requests on a shared connection does not count towards a response's size "
    "limit") {
    constexpr std::size_t count = 400;
    constexpr std::size_t under_way = 60;
    const test::Http2Receiver receiver{200'000};
    Scene scene{20s, 300'000};
    scene.post_many(receiver.url(), 1);
    scene.turn_until([&] { return scene.delivered == 1; });
    for (std::size_t begun = 0; begun < count; ++begun) {
        scene.turn_until([&] { return scene.posts.size() < under_way; });
        scene.post_many(receiver.url(), 1);
    }
    scene.turn_until([&] { return scene.posts.size() == 0; });
    CHECK(scene.delivered == 1 + count);
}

TEST_CASE("a response on a reused connection may take longer than the connect timeout") {
    const ScriptedReceiver receiver{[](const ReceivedRequest& request) {
        CHECK(request.connection == 0);
        if (request.number > 0) std::this_thread::sleep_for(connect_timeout * 3 / 2);
        return test::status(200);
    }};
    Scene scene;
    for (std::size_t n = 1; n <= 2; ++n) {
        scene.post_many(receiver.url(), 1);
        scene.turn_until([&] { return scene.delivered == n; });
    }
    CHECK(scene.age() > connect_timeout);
}

TEST_CASE("a receiver with a closed HTTP/2 flow-control window costs few iterations") {
    const std::string longer_than_window(200'000, ' ');
    const test::Http2Receiver receiver{1'000};
    Duration limit = 1s;
    bool opens = false;
    SUBCASE("the window stays closed until the timeout") {}
    SUBCASE("the window is opened again") {
        limit = 20s;
        opens = true;
    }
    Scene scene{limit};
    scene.post_many(receiver.url(), 1);
    scene.turn_until([&] { return scene.delivered == 1; });
    receiver.freeze();
    bool ended = false;
    bool delivered = false;
    scene.post(
        receiver.url(),
        [&](const DeliveryReport& report) {
            ended = true;
            delivered = report.outcome.has_value();
        },
        longer_than_window);
    const auto begun = scene.age();
    scene.turn_until([&] { return ended || (opens && scene.age() > begun + 300ms); });
    CHECK(ended == !opens);
    receiver.thaw();
    scene.turn_until([&] { return ended; });
    CHECK(delivered == opens);
}

TEST_CASE("the TLS handshake counts towards the connect timeout") {
    const ScriptedReceiver receiver{[](const ReceivedRequest&) { return test::silence(); }};
    Scene scene;
    std::string error;
    scene.post("https://" + receiver.url().substr(std::string_view{"http://"}.size()),
               [&](const DeliveryReport& report) { error = report.outcome.error().context(); });
    scene.turn_until([&] { return !error.empty(); });
    CHECK(error == "no connection within 500 ms");
    CHECK(scene.age() < 2s);
}

TEST_CASE("a response that is incomplete at its timeout is reported as incomplete") {
    const ScriptedReceiver receiver{[](const ReceivedRequest&) {
        return test::ScriptedReply{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n."};
    }};
    Scene scene{200ms};
    std::string error;
    scene.post(receiver.url(),
               [&](const DeliveryReport& report) { error = report.outcome.error().context(); });
    scene.turn_until([&] { return !error.empty(); });
    CHECK(error == "the answer was not complete within 200 ms");
}

TEST_CASE("a POST with a timeout of 1 ms times out within milliseconds") {
    const ScriptedReceiver receiver{[](const ReceivedRequest&) { return test::silence(); }};
    Scene scene{1ms};
    for (int i = 0; i < 20; ++i) {
        bool ended = false;
        scene.post(receiver.url(), [&](const DeliveryReport& report) {
            CHECK(report.outcome.error().code() == Errc::timed_out);
            ended = true;
        });
        scene.turn_until([&] { return ended; });
    }
    CHECK(scene.age() < 2s);
}
