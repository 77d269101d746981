// Jobs over HTTP on a running bus: pushed, listed, changed, and leased to remote workers.

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "routemaster/codec/json.hpp"
#include "support/await.hpp"
#include "support/process_usage.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace std::chrono_literals;
using test::HttpClient;
using test::HttpReply;
using test::RunningBus;
using test::TemporaryFolder;

namespace {

const std::string images_path = "/v1/queues/images";

HttpReply post(const test::BusFront& bus, const std::string& path, const std::string& body) {
    return bus.ask("POST", images_path + path, test::root_key, body);
}

std::string queue_counts(const test::BusFront& bus) {
    const auto body = bus.ask("GET", images_path, test::root_key).body;
    return body.substr(0, body.find(R"(,"paused")"));
}

std::string counted(int ready, int pending) {
    return R"({"queue":"images","scheduled":0,"ready":)" + std::to_string(ready) +
           R"(,"pending":)" + std::to_string(pending) + R"(,"buried":0)";
}

void push(const test::BusFront& bus, const std::string& name) {
    REQUIRE(post(bus, "/jobs", R"({"name":")" + name + R"("})").status == 200);
}

/// A leased job.
struct Leased {
    std::string id;
    std::string lease;
    std::int64_t attempt = 0;
};

std::vector<Leased> leased_in(const HttpReply& reply) {
    REQUIRE(reply.status == 200);
    std::vector<Leased> all;
    const auto answer = parse_json(reply.body).value();
    for (const auto& job : *answer.find("jobs")->get_if<Value::Array>()) {
        all.push_back({std::to_string(*job.find("id")->get_if<std::int64_t>()),
                       *job.find("lease")->get_if<std::string>(),
                       *job.find("attempt")->get_if<std::int64_t>()});
    }
    return all;
}

Leased lease(const test::BusFront& bus, const std::string& body = "{}") {
    const auto jobs = leased_in(post(bus, "/lease", body));
    REQUIRE(jobs.size() == 1);
    return jobs.front();
}

int say(const test::BusFront& bus, const Leased& job, const std::string& verb) {
    return post(bus, "/jobs/" + job.id + "/" + verb, R"({"lease":")" + job.lease + R"("})").status;
}

/// A client whose request waits for a job.
std::unique_ptr<HttpClient> waiting_client(const test::BusFront& bus, const std::string& body) {
    auto client = std::make_unique<HttpClient>(bus.port());
    client->request("POST", images_path + "/lease", body, test::authorization(test::root_key));
    return client;
}

}  // namespace

TEST_CASE("jobs pushed with 200 survive a kill, and a lease of the dead process is lost") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    CHECK(post(bus, "/jobs", R"([{"name":"a"},{"name":"b","arguments":[{"deep":[1]}]}])").status ==
          200);
    const auto zombie = lease(bus, R"({"lease_time":60000})");
    bus.kill();
    bus.start();
    CHECK(queue_counts(bus) == counted(2, 0));
    CHECK(bus.ask("GET", images_path + "/jobs/2", test::root_key).body.find(R"([{"deep":[1]}])") !=
          std::string::npos);
    CHECK(say(bus, zombie, "ack") == 409);
    const auto again = lease(bus);
    CHECK(again.id == zombie.id);
    CHECK(say(bus, zombie, "ack") == 409);
    CHECK(say(bus, again, "ack") == 204);
    CHECK(queue_counts(bus) == counted(1, 0));
    CHECK(bus.stop() == 0);
}

TEST_CASE(
    "a push repeated with its Idempotency-Key makes one job, also after a restart of the bus") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    const auto push = [&bus](const std::string& headers) {
        HttpClient client{bus.port()};
        return client.ask("POST", images_path + "/jobs", R"({"name":"a","unique":false})",
                          test::authorization(test::root_key) + headers);
    };
    const std::string key = "idempotency-key: \"8e03978e-40d5\"\r\n";
    CHECK(push(key).body == R"({"id":1,"outcome":"pushed"})");
    CHECK(push(key).body == R"({"id":1,"outcome":"pushed"})");
    bus.kill();
    bus.start();
    CHECK(push(key).body == R"({"id":1,"outcome":"pushed"})");
    CHECK(queue_counts(bus) == counted(1, 0));
    CHECK(push({}).body == R"({"id":2,"outcome":"pushed"})");
    CHECK(push(key + key).status == 400);
    CHECK(push("Idempotency-Key: \r\n").status == 400);
}

TEST_CASE("a push whose body is truncated pushes no job") {
    const TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const std::string body = R"([{"name":"a"},{"name":"b"}])";
    for (std::size_t sent = 0; sent < body.size(); sent += 5) {
        HttpClient client{bus.port()};
        client.send("POST " + images_path + "/jobs HTTP/1.1\r\nHost: test\r\n" +
                    test::authorization(test::root_key) + "Content-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body.substr(0, sent));
        client.close();
    }
    CHECK(queue_counts(bus) == counted(0, 0));
}

TEST_CASE("a job is not leased to a disconnected client, and goes to the next client") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    const auto pid = bus.process().pid();
    auto leaves = waiting_client(bus, R"({"wait":30000})");
    auto stays = waiting_client(bus, R"({"wait":30000})");
    CHECK(queue_counts(bus) == counted(0, 0));
    const auto files = test::open_files(pid);
    leaves->close();
    // The bus forgets the client long before the end of its wait.
    CHECK(test::await([&] { return test::open_files(pid) < files; }, 5s));
    push(bus, "a");
    const auto jobs = leased_in(stays->receive());
    REQUIRE(jobs.size() == 1);
    CHECK(jobs[0].attempt == 1);
    CHECK(queue_counts(bus) == counted(0, 1));
}

TEST_CASE("the lease of a worker that died expires, and the job is leased to another worker") {
    const TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    push(bus, "a");
    const auto dead = lease(bus, R"({"worker":"dead","lease_time":1000})");
    const auto began = std::chrono::steady_clock::now();
    const auto again = lease(bus, R"({"wait":30000})");
    const auto took = std::chrono::steady_clock::now() - began;
    CHECK(again.attempt == 2);
    CHECK(took > 800ms);
    CHECK(took < 3s);
    CHECK(say(bus, dead, "extend") == 409);
    CHECK(say(bus, dead, "ack") == 409);
    CHECK(bus.ask("GET", images_path + "/jobs/" + again.id, test::root_key)
              .body.find("its worker 'dead' was silent for 1000 ms") != std::string::npos);
    CHECK(say(bus, again, "ack") == 204);
}

TEST_CASE(
    "a thousand clients wait for jobs, each job wakes one client, and waiting costs no time") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < 1'000; ++i) {
        clients.push_back(waiting_client(bus, R"({"wait":30000})"));
        // Jobs are given to clients in the order of their requests.
        if (i == 0) CHECK(queue_counts(bus) == counted(0, 0));
    }
    const auto pid = bus.process().pid();
    CHECK(test::await([&] { return test::open_files(pid) > 1'000; }));
    CHECK(queue_counts(bus) == counted(0, 0));
    const auto before = test::processor_time(pid);
    ::usleep(1'000'000);
    CHECK((test::processor_time(pid) - before).count() < 0.1);
    for (int i = 0; i < 10; ++i) push(bus, "job" + std::to_string(i));
    // All jobs are leased, and as many clients have a response.
    CHECK(test::await([&] { return queue_counts(bus) == counted(0, 10); }));
    CHECK(leased_in(clients.front()->receive()).size() == 1);
    CHECK(bus.stop() == 0);
    int with_a_job = 1;
    for (std::size_t i = 1; i < clients.size(); ++i) {
        const auto reply = clients[i]->receive();
        if (reply.status == 200) {
            CHECK(leased_in(reply).size() == 1);
            ++with_a_job;
        } else {
            CHECK(reply.status == 503);
            CHECK(reply.headers.at("retry-after") == "1");
        }
    }
    CHECK(with_a_job == 10);
}

TEST_CASE("requests that wait for jobs leave half of the connections to other requests") {
    const TemporaryFolder folder;
    const RunningBus bus{folder.path(), {"--connections-max", "40"}};
    std::vector<std::unique_ptr<HttpClient>> clients;
    const auto wait_as_well = [&] { clients.push_back(waiting_client(bus, R"({"wait":30000})")); };
    for (int i = 0; i < 20; ++i) wait_as_well();
    // A request without a wait takes a place for a moment, so a waiting request may be refused.
    CHECK(test::await([&] {
        if (post(bus, "/lease", R"({"wait":1})").status == 503) return true;
        if (clients.size() < 29) wait_as_well();
        return false;
    }));
    const auto refused = post(bus, "/lease", R"({"wait":1})");
    CHECK(refused.body == "unavailable: too many requests wait for jobs");
    CHECK(post(bus, "/lease", "{}").status == 200);
    CHECK(bus.publish("orders", "https://shop.example/1").status == 200);
    push(bus, "a");
    CHECK(test::await([&] { return queue_counts(bus) == counted(0, 1); }));
}

TEST_CASE("a bus that stops responds to waiting requests at once, and releases leased jobs") {
    const TemporaryFolder folder;
    RunningBus bus{folder.path()};
    push(bus, "a");
    const auto job = lease(bus, R"({"lease_time":60000})");
    auto client = waiting_client(bus, R"({"wait":30000})");
    CHECK(queue_counts(bus) == counted(0, 1));
    const auto began = std::chrono::steady_clock::now();
    CHECK(bus.stop() == 0);
    CHECK(std::chrono::steady_clock::now() - began < 5s);
    CHECK(client->receive().status == 503);
    bus.start();
    CHECK(lease(bus).attempt == 1);
    CHECK(say(bus, job, "ack") == 409);
    CHECK(bus.process().errors().find("ERROR") == std::string::npos);
}
