// Responses that may be large: how many are made at once, and the memory reserved for them.

#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/store.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// Keeps the completions of all steps until the test ends them, in order.
class WithheldStore final : public rm::ForwardingStore {
public:
    explicit WithheldStore(rm::Store& next) : ForwardingStore{next} {}

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        std::vector<rm::Step> kept{std::make_move_iterator(steps.begin()),
                                   std::make_move_iterator(steps.end())};
        withheld_.push_back([this, kept = std::move(kept), now, done = std::move(done)]() mutable {
            next().submit(kept, now, std::move(done));
        });
    }

    /// Performs the oldest step. False if no step waits.
    bool perform_next() {
        if (withheld_.empty()) return false;
        auto step = std::move(withheld_.front());
        withheld_.pop_front();
        step();
        return true;
    }

    [[nodiscard]] std::size_t waiting() const { return withheld_.size(); }

private:
    std::deque<std::function<void()>> withheld_;
};

/// An API over a `WithheldStore`, and the requests for large responses.
struct LargeAnswers {
    /// Requests `target` as root.
    void get(const std::string& target) {
        auto wanted = request("GET", target, root);
        wanted.reserve_answer = [this](std::size_t bytes) {
            reserved.push_back(bytes);
            return has_memory;
        };
        api.handle(std::move(wanted), [this](rm::HttpResponse answer) {
            CHECK(answer.status == 200);
            ++answered;
        });
    }

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore memory;
    WithheldStore store{memory};
    rm::HttpApi api{store, Scenario::with_clock(default_options(), clock)};
    std::vector<std::size_t> reserved;
    std::size_t answered = 0;
    bool has_memory = true;
};

}  // namespace

TEST_CASE("http api: at most 16 large responses are made at once, and each is completed first") {
    LargeAnswers bus;
    std::vector<std::string> topics;
    for (int i = 0; i < 350; ++i) {
        std::string name{"t"};
        for (const char digit : std::to_string(i)) name += static_cast<char>('a' + digit - '0');
        topics.push_back(name);
    }
    done(bus.memory, rm::Subscribe{shop, topics, {.callback = "https://s.example"}});
    for (int i = 0; i < 50; ++i) bus.get("/topics");
    CHECK(bus.reserved.size() == 16);
    while (bus.store.perform_next()) CHECK(bus.reserved.size() - bus.answered <= 16);
    CHECK(bus.answered == 50);
    CHECK(bus.reserved == std::vector<std::size_t>(50, 1U << 20U));
}

TEST_CASE("http api: the store is not asked for a response that there is no memory for") {
    for (const auto* target :
         {"/topics", "/subscribers", "/subscribers/a--1/dead",
          "/subscribers/a--1/dead/00000000-0000-4000-8000-000000000000", "/api_tokens",
          "/v1/queues", "/v1/workers", "/v1/queues/images/jobs?state=ready",
          "/v1/queues/images/jobs/1", "/v1/queues/images/jobs/1/explanation",
          "/v1/subscribers/a--1/batches", "/v1/recurring", "/v1/timers/mail", "/v1/job-batches"}) {
        CAPTURE(target);
        LargeAnswers bus;
        bus.has_memory = false;
        bus.get(target);
        CHECK(bus.reserved.size() == 1);
        CHECK(bus.store.waiting() == 0);
        CHECK(bus.answered == 0);
        CHECK(rm::HttpApi::answers_large(request("GET", target, root)));
    }
    CHECK_FALSE(rm::HttpApi::answers_large(request("GET", "/pulse", root)));
    CHECK_FALSE(rm::HttpApi::answers_large(request("GET", "/nowhere", root)));
    CHECK_FALSE(rm::HttpApi::answers_large(request("DELETE", "/v1/queues/images/jobs/1", root)));
}
