/// @file
/// Jobs over HTTP, with several web processes on a Redis server.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>

#include "routemaster/clock.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/time.hpp"
#include "support/await.hpp"
#include "support/redis_server.hpp"
#include "support/running_fleet.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::HttpClient;
using test::RunningWeb;

namespace {

const std::string images_path = "/v1/queues/images";

test::HttpReply post(const RunningWeb& web, const std::string& path, const std::string& body) {
    return web.ask("POST", images_path + path, test::root_key, body);
}

/// The value of a text or number in a response with one job.
std::string field(const test::HttpReply& reply, const std::string& name) {
    REQUIRE(reply.status == 200);
    const auto answer = parse_json(reply.body).value();
    const auto& jobs = *answer.find("jobs")->get_if<Value::Array>();
    REQUIRE(jobs.size() == 1);
    const auto* value = jobs[0].find(name);
    if (const auto* text = value->get_if<std::string>()) return *text;
    return std::to_string(*value->get_if<std::int64_t>());
}

std::string naming(const std::string& lease) { return R"({"lease":")" + lease + R"("})"; }

}  // namespace

TEST_CASE("a job leased through one web process can be acked through another, but not extended") {
    test::RedisServer redis;
    const RunningWeb one{redis.url()};
    const RunningWeb other{redis.url()};
    REQUIRE(post(one, "/jobs", R"({"name":"a","unique":{"key":"k"}})").status == 200);
    const auto leased = post(one, "/lease", "{}");
    const auto lease = field(leased, "lease");
    const auto path = "/jobs/" + field(leased, "id");
    CHECK(post(other, path + "/extend", naming(lease)).status == 409);
    CHECK(post(one, path + "/extend", naming(lease)).status == 200);
    CHECK(post(other, path + "/ack", naming(lease)).status == 204);
    CHECK(post(one, path + "/ack", naming(lease)).status == 409);
    CHECK(one.ask("GET", images_path, test::root_key).body.find(R"("pending":0)") !=
          std::string::npos);
}

TEST_CASE("a web process refuses to settle a job with the lease of another, equal job") {
    test::RedisServer redis;
    const RunningWeb web{redis.url()};
    const RunningWeb elsewhere{redis.url()};
    REQUIRE(post(web, "/jobs", R"({"name":"a"})").status == 200);
    REQUIRE(post(web, "/jobs", R"({"name":"a","unique":false})").status == 200);
    const std::array leased{post(web, "/lease", "{}"), post(web, "/lease", "{}")};
    for (const std::size_t i : {0U, 1U}) {
        const auto path = "/jobs/" + field(leased[i], "id");
        const auto other = naming(field(leased[1 - i], "lease"));
        for (const std::string verb : {"/ack", "/nack", "/release", "/extend"}) {
            CAPTURE(verb);
            CHECK(post(web, path + verb, other).status == 409);
            CHECK(post(elsewhere, path + verb, other).status == 409);
        }
    }
    const auto path = "/jobs/" + field(leased[0], "id") + "/ack";
    CHECK(post(elsewhere, path, naming(field(leased[0], "lease"))).status == 204);
}

TEST_CASE("a job pushed through one web process wakes a client that waits at another web process") {
    test::RedisServer redis;
    const RunningWeb one{redis.url()};
    const RunningWeb other{redis.url()};
    HttpClient client{other.port()};
    client.request("POST", images_path + "/lease", R"({"wait":30000})",
                   test::authorization(test::root_key));
    CHECK(other.ask("GET", images_path, test::root_key).status == 200);
    REQUIRE(post(one, "/jobs", R"({"name":"a"})").status == 200);
    CHECK(field(client.receive(), "attempt") == "1");
}

TEST_CASE("jobs leased through a killed web process are leased through another within 5 s") {
    test::RedisServer redis;
    RunningWeb one{redis.url()};
    const RunningWeb other{redis.url()};
    REQUIRE(post(one, "/jobs", R"({"name":"a"})").status == 200);
    const auto lost = post(one, "/lease", R"({"lease_time":60000})");
    one.process().signal(SIGKILL);
    one.process().wait();
    const auto began = std::chrono::steady_clock::now();
    const auto again = post(other, "/lease", R"({"wait":20000})");
    CHECK(std::chrono::steady_clock::now() - began < 5s);
    CHECK(field(again, "attempt") == "2");
    const auto path = "/jobs/" + field(lost, "id") + "/ack";
    CHECK(post(other, path, naming(field(lost, "lease"))).status == 409);
    CHECK(post(other, path, naming(field(again, "lease"))).status == 204);
}

TEST_CASE("a web process searches for dead processes even without requests for jobs") {
    test::RedisServer redis;
    RunningWeb one{redis.url()};
    const RunningWeb other{redis.url()};
    REQUIRE(post(one, "/jobs", R"({"name":"a"})").status == 200);
    REQUIRE(post(one, "/lease", R"({"lease_time":60000})").status == 200);
    one.process().signal(SIGKILL);
    one.process().wait();
    const auto killed = std::chrono::steady_clock::now();
    const auto is_ready = [&] {
        return other.ask("GET", images_path, test::root_key).body.find(R"("ready":1)") !=
               std::string::npos;
    };
    CHECK(!is_ready());
    CHECK(test::await(is_ready));
    CHECK(std::chrono::steady_clock::now() - killed < 5s);
}

TEST_CASE("a web process in a mixed deployment tolerates the usual silence of Ruby workers") {
    test::RedisServer redis;
    const RunningWeb web{redis.url(), {"--mixed-fleet"}};
    const auto heard_before = [&](std::chrono::milliseconds span) {
        const auto at = system_clock().now() - span;
        redis.command({"HSET", "workers", "ruby", std::to_string(to_milliseconds(at))});
        REQUIRE(post(web, "/lease", R"({"wait":1500})").status == 200);
        return redis.command({"HEXISTS", "workers", "ruby"}).number == 1;
    };
    CHECK(heard_before(15s));
    CHECK(!heard_before(60s));
}
