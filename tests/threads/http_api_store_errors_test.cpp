#include <deque>
#include <thread>

#include "routemaster/testing/faulty_store.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// Fails the steps of one type, or all steps.
class FailingStore final : public rm::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        const bool spared = spare_lookups && std::holds_alternative<rm::FindToken>(steps.front());
        if (!failure || spared) return next().submit(steps, now, std::move(done));
        std::vector<rm::Outcome> outcomes(steps.size(), rm::Outcome{*failure});
        done(outcomes);
    }

    std::optional<rm::Error> failure;
    bool spare_lookups = true;
};

/// Records the number of steps in each submission.
class CountingStore final : public rm::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        submissions.push_back(steps.size());
        next().submit(steps, now, std::move(done));
    }

    std::vector<std::size_t> submissions;
};

/// Defers steps until `release`.
class LateStore final : public rm::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        kept_.push_back({{steps.begin(), steps.end()}, now, std::move(done)});
    }

    /// Performs all deferred steps, and the steps submitted meanwhile, in a new thread.
    void release() {
        std::thread{[this] {
            for (; !kept_.empty(); kept_.pop_front()) {
                auto& [steps, now, done] = kept_.front();
                next().submit(steps, now, std::move(done));
            }
        }}.join();
    }

    /// Drops all deferred steps.
    void drop() { kept_.clear(); }

private:
    struct Kept {
        std::vector<rm::Step> steps;
        rm::TimePoint now;
        rm::Completion done;
    };
    std::deque<Kept> kept_;
};

template <class Between>
struct Behind {
    explicit Behind(rm::Log log = {}) {
        done(memory, rm::PutToken{shop, "shop"});
        auto options = default_options();
        options.clock = &clock;
        options.log = std::move(log);
        api.emplace(store, std::move(options));
    }

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore memory;
    Between store{memory};
    std::optional<rm::HttpApi> api;
};

/// A request for each route that uses the store beyond authorization.
std::vector<rm::HttpRequest> every_request() {
    const std::string event = R"({"type":"update","url":"https://shop.example/1"})";
    const std::string payload = R"({"topics":["orders"],"callback":"https://b.example"})";
    return {
        request("POST", "/topics/orders", shop, event),
        request("GET", "/topics", shop),
        request("DELETE", "/topics/orders", root),
        request("POST", "/subscription", shop, payload),
        request("POST", "/subscriber", shop, payload),
        request("GET", "/subscriptions", root),
        request("GET", "/subscribers", shop),
        request("DELETE", "/subscriber", shop),
        request("DELETE", "/subscriber/topics/orders", shop),
        request("GET", "/api_tokens", root),
        request("POST", "/api_tokens", root, R"({"name":"a"})"),
        request("DELETE", "/api_tokens/a", root),
        request("GET", "/pulse", root),
        request("GET", "/pulse/scaling", shop),
    };
}

}  // namespace

TEST_CASE("http api: every route returns the matching status for each error of the store") {
    Behind<FailingStore> bus;
    const auto expect = [&](const rm::Error& failure, int status, const std::string& text) {
        bus.store.failure = failure;
        for (const auto& asking : every_request()) {
            INFO(asking.method << " " << asking.path);
            const auto answer = ask_at_once(*bus.api, asking);
            CHECK(answer.status == status);
            // As for each invalid event.
            const bool event =
                status == 400 && asking.path == "/topics/orders" && asking.method == "POST";
            CHECK(answer.body == (event ? "bad event: " + text : text));
            CHECK(answer.content_type == "text/plain;charset=utf-8");
            CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
            CHECK(header(answer, "Retry-After") == (status == 503 ? "1" : ""));
        }
    };
    expect({rm::Errc::unavailable, "bus.db: disk full"}, 503, "unavailable: bus.db: disk full");
    expect({rm::Errc::cancelled, "bus.db: closing"}, 503, "cancelled: bus.db: closing");
    expect({rm::Errc::timed_out, "redis"}, 504,
           "timed out; the request may still take effect: redis");
    expect({rm::Errc::invalid, "topic: too odd"}, 400, "topic: too odd");
    expect({rm::Errc::corrupted, "bus.db: row 7"}, 500, "internal error");
    expect({std::make_error_code(std::errc::io_error), "x"}, 500, "internal error");
}

TEST_CASE("http api: a token cannot be checked without the store") {
    Behind<FailingStore> bus;
    bus.store.spare_lookups = false;
    bus.store.failure = rm::Error{rm::Errc::unavailable, "bus.db"};
    const auto answer = ask_at_once(*bus.api, request("GET", "/topics", shop));
    CHECK(answer.status == 503);
    CHECK(answer.body == "unavailable: bus.db");
    CHECK(ask_at_once(*bus.api, request("GET", "/health", "")).status == 200);
    CHECK(ask_at_once(*bus.api, request("GET", "/nothing", shop)).status == 404);
    bus.store.failure.reset();
    CHECK(ask_at_once(*bus.api, request("GET", "/topics", shop)).status == 200);
}

TEST_CASE("http api: a step of the store whose reply is lost is repeated") {
    for (const auto& asking : every_request()) {
        // A repeated publication would be a second event. /pulse must report a lost reply.
        const bool publication = asking.method == "POST" && asking.path == "/topics/orders";
        const bool once = publication || asking.path == "/pulse";
        INFO(asking.method << " " << asking.path);
        Behind<rm::testing::FaultyStore> bus;
        using rm::testing::Fault;
        bus.store.script({Fault::lost_reply, Fault::lost_reply});
        const auto status = ask_at_once(*bus.api, asking).status;
        CHECK((once ? status == 504 : status < 500));
    }
}

TEST_CASE("http api: the check of a token is repeated when the reply is lost") {
    Behind<rm::testing::FaultyStore> bus;
    using rm::testing::Fault;
    bus.store.script({Fault::lost_reply, Fault::lost_reply});
    CHECK(ask_at_once(*bus.api, request("GET", "/topics", shop)).status == 200);
    bus.store.script({Fault::lost_reply, Fault::lost_reply, Fault::lost_reply});
    CHECK(ask_at_once(*bus.api, request("GET", "/topics", shop)).status == 504);
}

TEST_CASE("http api: a publication is a single step, in one request to the store") {
    Behind<CountingStore> bus;
    const auto publish = [&](const char* user) {
        bus.store.submissions.clear();
        return ask_at_once(*bus.api, request("POST", "/topics/orders", user, an_event)).status;
    };
    CHECK(publish(shop) == 200);
    CHECK(bus.store.submissions == std::vector<std::size_t>{1});
    CHECK(publish("stranger") == 401);
    CHECK(bus.store.submissions == std::vector<std::size_t>{1});
    CHECK(holdings(bus.memory).topics == std::vector<rm::Topic>{{"orders", shop, 1}});
}

TEST_CASE("http api: a client with an invalid token learns only that the token is not valid") {
    Behind<FailingStore> bus;
    const auto publish = [&](const char* user, const std::string& path, const std::string& body) {
        return ask_at_once(*bus.api, request("POST", path, user, body));
    };
    const std::string text = "this endpoint requires authentication with a client token";
    const auto turned_away = [&](const std::string& path, const std::string& body) {
        INFO(path << " " << body);
        const auto answer = publish("stranger", path, body);
        CHECK(answer.status == 401);
        CHECK(answer.body == text);
        CHECK(header(answer, "WWW-Authenticate") == "Basic");
        CHECK(publish(shop, path, body).status != 401);
    };
    turned_away("/topics/orders", "{");
    turned_away("/topics/orders", "{}");
    turned_away("/topics/Orders", an_event);
    turned_away("/topics/orders", R"({"type":"update","url":"http://shop.example"})");
    // The store has no space, and reports this before it checks the token.
    bus.store.failure = rm::Error{rm::Errc::unavailable, "bus.db: disk full"};
    turned_away("/topics/orders", an_event);
    CHECK(publish(shop, "/topics/orders", an_event).body == "unavailable: bus.db: disk full");
    // The same applies when the token cannot be checked.
    bus.store.spare_lookups = false;
    CHECK(publish("stranger", "/topics/orders", an_event).status == 503);
}

TEST_CASE("http api: corruption of the store is logged, without secrets") {
    std::vector<std::string> lines;
    Behind<FailingStore> bus{[&](rm::LogLevel level, std::string_view line) {
        CHECK(level == rm::LogLevel::error);
        lines.emplace_back(line);
    }};
    bus.store.failure = rm::Error{rm::Errc::corrupted, "bus.db: row 7"};
    CHECK(ask_at_once(*bus.api, request("GET", "/topics", shop)).status == 500);
    REQUIRE(lines.size() == 1);
    CHECK(lines.front() == "http api: GET failed: bus.db: row 7: corrupted");
    bus.store.failure = rm::Error{rm::Errc::unavailable, "bus.db: disk full"};
    CHECK(ask_at_once(*bus.api, request("GET", "/topics", shop)).status == 503);
    CHECK(lines.size() == 1);
}

TEST_CASE("http api: a response waits for the store without blocking the caller") {
    Behind<LateStore> bus;
    const auto statuses = [&](bool late) {
        std::vector<int> answers;
        for (const auto& asking : every_request()) {
            const auto before = answers.size();
            bus.api->handle(asking,
                            [&](rm::HttpResponse answer) { answers.push_back(answer.status); });
            CHECK(answers.size() == before);
            if (late) bus.store.release();
        }
        if (!late) bus.store.release();
        return answers;
    };
    const std::vector<int> expected{200, 200, 204, 204, 204, 200, 200,
                                    204, 404, 200, 201, 204, 204, 204};
    SUBCASE("the store replies to one request at a time") { CHECK(statuses(true) == expected); }
    SUBCASE(
        "the store replies to all requests at "
        "once") {
        CHECK(statuses(false).size() == expected.size());
    }
}

TEST_CASE("http api: a request refused at once never reaches the store") {
    Behind<LateStore> bus;
    const auto answer = ask_at_once(*bus.api, request("POST", "/api_tokens", root, "{}"));
    CHECK(answer.status == 400);
    CHECK(ask_at_once(*bus.api, request("GET", "/topics", "Not-A-Token")).status == 401);
    CHECK(ask_at_once(*bus.api, request("GET", "/topics", "")).status == 401);
}

TEST_CASE("http api: an event is not published before its publisher's token is checked") {
    Behind<LateStore> bus;
    int status = 0;
    bus.api->handle(request("POST", "/topics/orders", "stranger",
                            R"({"type":"update","url":"https://shop.example/1"})"),
                    [&](rm::HttpResponse answer) { status = answer.status; });
    bus.store.release();
    CHECK(status == 401);
    CHECK(holdings(bus.memory).topics.empty());
    CHECK(holdings(bus.memory).counters.empty());
}

TEST_CASE("http api: when the store drops a step, the responder is destroyed without a call") {
    Behind<LateStore> bus;
    const auto answers = std::make_shared<int>(0);
    bus.api->handle(request("GET", "/topics", shop), [answers](rm::HttpResponse) { ++*answers; });
    CHECK(answers.use_count() == 2);
    bus.store.drop();
    CHECK(answers.use_count() == 1);
    CHECK(*answers == 0);
}
