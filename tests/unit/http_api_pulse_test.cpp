#include "support/http_api_scenario.hpp"

using namespace http_api_test;

TEST_CASE("http api: health and ping are JSON, with the time in the format of Ruby") {
    Scenario bus;
    const auto health = bus.get("/health", "");
    CHECK(health.status == 200);
    CHECK(health.content_type == "application/json");
    CHECK(health.body == "{}");
    for (const char* path : {"/health/ping", "/health/ping.json"}) {
        const auto ping = bus.get(path, "");
        CHECK(ping.status == 200);
        CHECK(ping.content_type == "application/json");
        CHECK(ping.body == R"({"pong":"2026-11-21 01:01:41 +0000"})");
    }
}

TEST_CASE("http api: GET /pulse returns 204 without a body") {
    Scenario bus;
    for (const char* user : {root, shop}) {
        const auto answer = bus.get("/pulse", user);
        CHECK(answer.status == 204);
        CHECK(answer.body.empty());
    }
}

TEST_CASE("http api: GET /pulse returns 503 with the reason when nothing can be delivered") {
    std::optional<std::string> trouble = "no name server answers";
    auto options = default_options();
    options.trouble = [&] { return trouble; };
    Scenario bus{options};
    const auto answer = bus.get("/pulse", shop);
    CHECK(answer.status == 503);
    CHECK(answer.content_type == "text/plain;charset=utf-8");
    CHECK(answer.body == "unavailable: deliveries: no name server answers");
    CHECK(header(answer, "Retry-After") == "1");
    CHECK_MESSAGE(bus.get("/health", "").status == 200, "the process answers");
    trouble.reset();
    CHECK(bus.get("/pulse", shop).status == 204);
}

TEST_CASE(
    "http api: the scaling pulse reports the number of due jobs, and whether the bus is busy") {
    auto options = default_options();
    options.scaling_threshold = 3;
    Scenario bus{options};
    const auto push = [&](const char* job, rm::Duration wait) {
        done(bus.store, rm::PushJob{rm::delivery_queue, job, noon + wait});
    };
    const auto expect_pulse = [&](const char* due, const char* busy) {
        const auto answer = bus.get("/pulse/scaling", shop);
        CHECK(answer.status == 204);
        CHECK(answer.body.empty());
        CHECK(header(answer, "Routemaster-Jobs-Due") == due);
        CHECK(header(answer, "Routemaster-Busy") == busy);
    };
    expect_pulse("0", "false");
    push("ready", rm::Duration{0});
    push("due in a second", rm::Duration{1000});
    push("due later", rm::Duration{1001});
    expect_pulse("2", "false");
    push("ready too", rm::Duration{-5});
    expect_pulse("3", "true");
    // Counting future jobs promotes no job.
    CHECK(done(bus.store, rm::CountJobs{rm::delivery_queue}) == rm::QueueStatus{2, 2, 0});
}

TEST_CASE("http api: the scaling pulse counts jobs due within the span of the options") {
    auto options = default_options();
    options.scaling_deadline = rm::Duration{5'000};
    Scenario bus{options};
    done(bus.store, rm::PushJob{rm::delivery_queue, "in time", noon + rm::Duration{5'000}});
    done(bus.store, rm::PushJob{rm::delivery_queue, "later", noon + rm::Duration{5'001}});
    CHECK(header(bus.get("/pulse/scaling", shop), "Routemaster-Jobs-Due") == "1");
}
