// Very many large jobs, leased over HTTP by a worker that falls silent.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "support/process_usage.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t job_bytes = 900'000;
/// A sanitizer slows everything down.
constexpr int large_jobs = test::memory_tells ? 300 : 50;

/// A client of the bus with one connection.
class Client {
public:
    explicit Client(const test::BusFront& bus) : http_{bus.port()} {}

    std::string ask(const char* method, const std::string& path, const std::string& body = {},
                    const char* token = test::root_key) {
        const auto reply = http_.ask(method, path, body, test::authorization(token));
        REQUIRE(reply.status == 200);
        return reply.body;
    }

    /// Leases all jobs. All leases end at the same moment.
    void lease_all(steady_clock::time_point until) {
        for (int leased = 0; leased < large_jobs;) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
            REQUIRE(left >= 1s);
            const auto reply =
                ask("POST", "/v1/queues/images/lease",
                    R"({"limit":100,"lease_time":)" + std::to_string(left.count()) + "}");
            for (std::size_t at = 0; (at = reply.find(R"("lease":)", at)) != std::string::npos;
                 ++at) {
                ++leased;
            }
        }
    }

    [[nodiscard]] bool all_are(const char* state) {
        return ask("GET", "/v1/queues/images")
                   .find('"' + std::string{state} + "\":" + std::to_string(large_jobs) + ',') !=
               std::string::npos;
    }

private:
    test::HttpClient http_;
};

}  // namespace

TEST_CASE("hundreds of leases of large jobs that expire together delay no publication for long") {
    const test::TemporaryFolder folder;
    test::RunningBus bus{folder.path()};
    const auto pid = bus.process().pid();
    Client client{bus};
    const std::string argument(job_bytes, 'x');
    for (int i = 0; i < large_jobs; ++i) {
        client.ask(
            "POST", "/v1/queues/images/jobs",
            R"({"name":")" + std::to_string(i) + R"(","arguments":[")" + argument + R"("]})");
    }
    const auto until = steady_clock::now() + 20s;
    client.lease_all(until);
    REQUIRE(client.all_are("pending"));

    const auto before = test::resident_bytes(pid);
    auto memory = before;
    steady_clock::duration slowest{0};
    bool all_ready = false;
    while (!all_ready && steady_clock::now() < until + 30s) {
        for (int i = 0; i < 20; ++i) {
            const auto began = steady_clock::now();
            client.ask("POST", "/topics/orders",
                       test::BusFront::event_json("https://shop.example/orders/1"), "shop");
            slowest = std::max(slowest, steady_clock::now() - began);
            memory = std::max(memory, test::resident_bytes(pid));
        }
        all_ready = client.all_are("ready");
    }
    CHECK(all_ready);
    CHECK(slowest <= 3s);  // 5 s if all end in one step; 1.2 s on a busy machine.
    if (test::memory_tells) CHECK(memory < before + (std::size_t{128} << 20U));
    CHECK(bus.stop() == 0);
    CHECK(bus.process().errors().find("lost the lease") == std::string::npos);
}
