#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "http_api_scenario.hpp"

using namespace http_api_test;

namespace {

constexpr std::size_t many = 2'500;

std::string topic_name(std::size_t number) {
    std::string name;
    for (int i = 0; i < 4; ++i, number /= 26)
        name.insert(0, 1, static_cast<char>('a' + number % 26));
    return name;
}

void create_topics(rm::Store& store, std::size_t count) {
    std::vector<std::string> topics;
    for (std::size_t i = 0; i < count; ++i) topics.push_back(topic_name(i));
    done(store, rm::Subscribe{shop, topics, {.callback = "https://s.example"}});
}

std::vector<std::string> names(const rm::HttpResponse& answer, const char* key) {
    REQUIRE(answer.status == 200);
    std::vector<std::string> all;
    const auto list = rm::parse_json(answer.body).value();
    for (const auto& entry : *list.get_if<rm::Value::Array>()) {
        all.push_back(*entry.find(key)->get_if<std::string>());
    }
    return all;
}

/// Performs steps on a thread of its own, and counts them.
class StoreThread final : public rm::ForwardingStore {
public:
    explicit StoreThread(rm::Store& next) : ForwardingStore{next}, thread_{[this] { run(); }} {}
    ~StoreThread() override {
        post({});
        thread_.join();
    }

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        std::vector<rm::Step> kept{std::make_move_iterator(steps.begin()),
                                   std::make_move_iterator(steps.end())};
        post([this, kept = std::move(kept), now, done = std::move(done)]() mutable {
            next().submit(kept, now, std::move(done));
        });
    }

private:
    void post(std::function<void()> work) {
        const std::lock_guard lock{mutex_};
        work_.push_back(std::move(work));
        arrived_.notify_one();
    }
    void run() {
        while (true) {
            std::unique_lock lock{mutex_};
            arrived_.wait(lock, [this] { return !work_.empty(); });
            const auto work = std::move(work_.front());
            work_.pop_front();
            lock.unlock();
            if (!work) return;
            work();
        }
    }

    std::mutex mutex_;  // Guards `work_`.
    std::condition_variable arrived_;
    std::deque<std::function<void()>> work_;
    std::thread thread_;
};

}  // namespace

TEST_CASE("http api: a list longer than a page is told whole and in order") {
    Scenario bus;
    for (const std::size_t count : {std::size_t{999}, std::size_t{1000}, std::size_t{1001}, many}) {
        create_topics(bus.store, count);
        const auto told = names(bus.get("/topics", root), "name");
        REQUIRE(told.size() == count);
        for (std::size_t i = 0; i < count; ++i) REQUIRE(told[i] == topic_name(i));
    }
}

TEST_CASE("http api: subscribers and tokens are told whole too") {
    Scenario bus;
    for (std::size_t i = 0; i < many; ++i) {
        done(bus.store, rm::PutToken{topic_name(i), "x"});
        done(bus.store, rm::Subscribe{topic_name(i), {}, {.callback = "https://s.example"}});
    }
    CHECK(names(bus.get("/subscribers", root), "subscriber").size() == many);
    CHECK(names(bus.get("/api_tokens", root), "token").size() == many + 2);
}

TEST_CASE("http api: a list is told page by page when the store answers later") {
    rm::testing::ManualClock clock{noon};
    rm::MemoryStore memory;
    done(memory, rm::PutToken{shop, "shop"});
    create_topics(memory, many);
    StoreThread store{memory};
    rm::HttpApi api{store, Scenario::with_clock(default_options(), clock)};
    for (int i = 0; i < 5; ++i) {
        std::promise<rm::HttpResponse> answered;
        api.handle(request("GET", "/topics", shop),
                   [&](rm::HttpResponse answer) { answered.set_value(std::move(answer)); });
        CHECK(names(answered.get_future().get(), "name").size() == many);
    }
}
