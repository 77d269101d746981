// Defaults of commands are equal to defaults of the requests that the commands send.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/ended.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::run;

namespace {

/// A bus with objects made by commands, and equal objects made by requests.
struct Twins {
    void by_command(const std::vector<std::string>& words) const {
        const auto ended = run(words, {{"ROUTEMASTER_BUS", bus.url()},
                                       {"ROUTEMASTER_ROOT_KEY", test::root_key},
                                       {"ROUTEMASTER_TOKEN", "one--1"}});
        INFO(ended.errors);
        REQUIRE(ended.status == 0);
    }
    void by_request(const std::string& method, const std::string& path, const std::string& token,
                    const std::string& body) const {
        const auto answer = bus.ask(method, path, token, body);
        INFO(answer.body);
        REQUIRE(answer.status < 300);
    }
    /// The response of the bus, with "-" in place of `name`.
    [[nodiscard]] std::string shown(const std::string& path, const std::string& name) const {
        auto text = bus.ask("GET", path, test::root_key).body;
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) {
            text.replace(at, name.size(), "-");
        }
        return text;
    }

    test::TemporaryFolder folder;
    test::RunningBus bus{folder.path()};
};

}  // namespace

TEST_CASE("a command without options sends a request without optional fields") {
    const Twins twins;
    twins.by_command({"jobs", "push", "first", "a"});
    twins.by_request("POST", "/v1/queues/second/jobs", test::root_key, R"({"name":"a"})");
    const auto job = [](const std::string& queue) {
        return "/v1/queues/" + queue + "/jobs?state=ready";
    };
    auto pushed = twins.shown(job("second"), "second");
    pushed.replace(pushed.find(R"("id":2)"), 6, R"("id":1)");
    CHECK(twins.shown(job("first"), "first") == pushed);

    twins.by_command({"timers", "post", "first", "7", "--at", "4102444800000", "--id", "t"});
    twins.by_request("POST", "/v1/timers/second", test::root_key,
                     R"({"payload":7,"at":4102444800000,"id":"t"})");
    CHECK(twins.shown("/v1/timers/first/t", "first") ==
          twins.shown("/v1/timers/second/t", "second"));

    const auto recurring = [&twins](const std::string& name) {
        auto text = twins.shown("/v1/recurring/" + name, name);
        // Removes the time of the put.
        const auto at = text.find(R"("next_at")");
        return text.substr(0, at) + text.substr(text.find(',', at));
    };
    const std::string schedule = R"({"schedule":"0 0 1 1 *",)";
    twins.by_command({"recurring", "put", "first", "0 0 1 1 *", "images", "a"});
    twins.by_request("PUT", "/v1/recurring/second", test::root_key,
                     schedule + R"("queue":"images","job":{"name":"a"}})");
    CHECK(recurring("first") == recurring("second"));
    twins.by_command({"recurring", "put-timer", "first", "0 0 1 1 *", "calls", "7"});
    twins.by_request("PUT", "/v1/recurring/second", test::root_key,
                     schedule + R"("timer":{"namespace":"calls","payload":7}})");
    CHECK(recurring("first") == recurring("second"));
    const std::string action = R"({"push":{"queue":"images","name":"a"}})";
    twins.by_command({"recurring", "put-action", "first", "0 0 1 1 *", action});
    twins.by_request("PUT", "/v1/recurring/second", test::root_key,
                     schedule + R"("action":)" + action + "}");
    CHECK(recurring("first") == recurring("second"));

    twins.by_command(
        {"job-batches", "create", "first", "--on-end", R"({"queue":"images","name":"a"})"});
    twins.by_request("POST", "/v1/job-batches", test::root_key,
                     R"({"name":"second","on_end":{"queue":"images","name":"a"}})");
    const auto batch = [&twins](const std::string& id, const std::string& name) {
        const auto text = twins.shown("/v1/job-batches/" + id, name);
        return text.substr(text.find(R"("total")"), text.find(R"("created_at")")) +
               text.substr(text.find(R"("closed_at")"));
    };
    CHECK(batch("1", "first") == batch("2", "second"));

    twins.by_request("POST", "/api_tokens", test::root_key, R"({"name":"one","token":"one--1"})");
    twins.by_request("POST", "/api_tokens", test::root_key, R"({"name":"two","token":"two--2"})");
    const std::string callback = "https://billing.example/";
    twins.by_command({"subscribe", "orders", "--callback", callback});
    twins.by_request("POST", "/subscription", "two--2",
                     R"({"topics":["orders"],"callback":")" + callback + "\"}");
    const auto all = twins.shown("/subscriptions", "one--1");
    const auto middle = all.find("},{");
    REQUIRE(middle != std::string::npos);
    auto second = all.substr(middle + 3, all.size() - middle - 5);
    second.replace(second.find("two--2"), 6, "-");
    CHECK(all.substr(2, middle - 2) == second);
}
