#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "support/http_api_scenario.hpp"

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

/// Sends a request, and returns the response.
using Ask = std::function<rm::HttpResponse(const std::string& target)>;

std::vector<std::string> names(const rm::HttpResponse& answer, const char* key) {
    REQUIRE(answer.status == 200);
    std::vector<std::string> all;
    const auto list = rm::parse_json(answer.body).value();
    for (const auto& entry : *list.get_if<rm::Value::Array>()) {
        all.push_back(*entry.find(key)->get_if<std::string>());
    }
    return all;
}

/// The target of the next page in a `Link` header; empty when there is none.
std::string next_of(const rm::HttpResponse& answer) {
    const auto link = header(answer, "Link");
    if (link.empty()) return {};
    const auto end = link.find('>');
    REQUIRE(link.front() == '<');
    REQUIRE(link.substr(end) == ">; rel=\"next\"");
    return link.substr(1, end - 1);
}

/// The complete list, read in pages of at most `part_max` items.
std::vector<std::string> followed(const Ask& ask, std::string target, const char* key,
                                  std::size_t part_max) {
    std::vector<std::string> all;
    while (!target.empty()) {
        const auto answer = ask(target);
        const auto part = names(answer, key);
        REQUIRE(part.size() <= part_max);
        all.insert(all.end(), part.begin(), part.end());
        target = next_of(answer);
        if (!target.empty()) REQUIRE_FALSE(part.empty());
    }
    return all;
}

Ask asking(Scenario& bus, const std::string& user) {
    return [&bus, user](const std::string& target) { return bus.get(target, user); };
}

/// Performs steps on its own thread, and counts them.
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

TEST_CASE("http api: a list has pages of a thousand entries, each with a link to the next page") {
    Scenario bus;
    for (const std::size_t count : {std::size_t{999}, std::size_t{1000}, std::size_t{1001}, many}) {
        CAPTURE(count);
        create_topics(bus.store, count);
        const auto first = bus.get("/topics", root);
        CHECK(names(first, "name").size() == std::min<std::size_t>(count, 1000));
        CHECK(next_of(first).empty() == (count <= 1000));
        const auto listed = followed(asking(bus, root), "/topics", "name", 1000);
        REQUIRE(listed.size() == count);
        for (std::size_t i = 0; i < count; ++i) REQUIRE(listed[i] == topic_name(i));
    }
}

TEST_CASE("http api: a client sets the number of entries in a page") {
    Scenario bus;
    create_topics(bus.store, 25);
    for (const unsigned limit : {1U, 7U, 24U, 25U, 26U, 1000U}) {
        CAPTURE(limit);
        const auto target = "/topics?limit=" + std::to_string(limit);
        CHECK(followed(asking(bus, shop), target, "name", limit).size() == 25);
    }
    const auto part = bus.get("/topics?limit=2&after=" + topic_name(4) + "&other=ignored", shop);
    CHECK(names(part, "name") == std::vector{topic_name(5), topic_name(6)});
    CHECK(next_of(part) == "/topics?after=" + topic_name(6) + "&limit=2");
    CHECK(names(bus.get("/topics?after=zzzz", shop), "name").empty());
}

TEST_CASE("http api: an invalid page parameter is refused, and the response names the parameter") {
    Scenario bus;
    for (const std::string limit : {"0", "1001", "-1", "", "x", "1x", "99999999999999999999"}) {
        refused(bus, request("GET", "/topics?limit=" + limit, root), 400,
                "limit: must be an integer from 1 to 1000");
    }
    for (const std::string bad : {"%", "%4", "%zz"}) {
        refused(bus, request("GET", "/subscribers?after=" + bad, root), 400,
                "after: contains a % without two hexadecimal digits");
    }
}

TEST_CASE("http api: subscribers and tokens are listed in pages, too") {
    Scenario bus;
    for (std::size_t i = 0; i < many; ++i) {
        const auto token = topic_name(i) + ":1";
        done(bus.store, rm::PutToken{token, "x"});
        done(bus.store, rm::Subscribe{token, {}, {.callback = "https://s.example"}});
    }
    const auto ask = asking(bus, root);
    CHECK(followed(ask, "/subscribers", "subscriber", 1000).size() == many);
    CHECK(followed(ask, "/subscriptions?limit=999", "subscriber", 999).size() == many);
    CHECK(followed(ask, "/api_tokens", "token", 1000).size() == many + 2);
}

TEST_CASE("http api: page links contain no full token, and each subscriber is listed") {
    Scenario bus;
    const std::vector<std::string> tokens{
        "ab",           "abcd",         "abcd--",    "abcd--2",    "abcd--thirty",
        "abcd-zzzzz",   "abcde",        "secret00",  "secret01",   "shop--alpha1",
        "shop--alpha2", "shop--beta77", "shop-xxxx", "web--ninety"};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        done(bus.store,
             rm::Subscribe{
                 tokens[i], {topic_name(i)}, {.callback = "https://s.example/", .uuid = "u"}});
    }
    const auto topics_of = [](const rm::HttpResponse& answer) {
        std::string all;
        const auto list = rm::parse_json(answer.body).value();
        for (const auto& entry : *list.get_if<rm::Value::Array>()) {
            const auto& topics = *entry.find("topics")->get_if<rm::Value::Array>();
            all += *topics.front().get_if<std::string>() + ' ';
        }
        return all;
    };
    const auto expected = topics_of(bus.get("/subscribers", shop));
    for (const unsigned limit : {1U, 2U, 3U, 5U, 13U, 14U}) {
        CAPTURE(limit);
        std::string listed;
        std::string target = "/subscribers?limit=" + std::to_string(limit);
        for (int parts = 0; !target.empty(); ++parts) {
            REQUIRE(parts < 20);
            const auto answer = bus.get(target, shop);
            REQUIRE(answer.status == 200);
            listed += topics_of(answer);
            target = next_of(answer);
            for (const auto& token : tokens) {
                const auto secret = token.find("--") == std::string::npos
                                        ? token
                                        : token.substr(token.find("--") + 2);
                if (secret.size() > 5) CHECK(target.find(secret) == std::string::npos);
            }
        }
        CHECK(listed == expected);
    }
    // Requests for the items after a guess must not reveal tokens.
    CHECK(bus.get("/subscribers?after=shop--alpha1&limit=1", shop).body ==
          bus.get("/subscribers?after=shop--beta77&limit=1", shop).body);
    CHECK(bus.get("/subscribers?after=secret00&limit=1", shop).body ==
          bus.get("/subscribers?limit=1", shop).body);
    CHECK(bus.get("/subscribers?after=&skip=99", shop).body == "[]");
    CHECK(bus.get("/subscribers?skip=x", shop).status == 400);
    CHECK(next_of(bus.get("/subscribers?after=shop--a&limit=1", root)) ==
          "/subscribers?after=shop--alpha1&limit=1");
}

TEST_CASE("http api: a page ends before the size limit of a response") {
    Scenario bus;
    const std::string long_name(60, 'x');
    std::vector<std::string> topics;
    for (std::size_t i = 0; i < 1000; ++i) topics.push_back(long_name + topic_name(i));
    constexpr std::size_t subscribers = 100;
    for (std::size_t i = 0; i < subscribers; ++i) {
        done(bus.store, rm::Subscribe{topic_name(i), topics, {.callback = "https://s.example"}});
    }
    const auto ask = [&](const std::string& target) {
        auto answer = bus.get(target, root);
        CHECK(answer.body.size() < (std::size_t{1} << 20U) + 100'000);
        return answer;
    };
    CHECK(followed(ask, "/subscribers", "subscriber", 1000).size() == subscribers);
}

TEST_CASE("http api: a list is returned in pages even when the store replies later") {
    rm::testing::ManualClock clock{noon};
    rm::MemoryStore memory;
    done(memory, rm::PutToken{shop, "shop"});
    create_topics(memory, many);
    StoreThread store{memory};
    rm::HttpApi api{store, Scenario::with_clock(default_options(), clock)};
    const auto ask = [&](const std::string& target) {
        std::promise<rm::HttpResponse> answered;
        api.handle(request("GET", target, shop),
                   [&](rm::HttpResponse answer) { answered.set_value(std::move(answer)); });
        return answered.get_future().get();
    };
    for (int i = 0; i < 5; ++i) CHECK(followed(ask, "/topics", "name", 1000).size() == many);
}
