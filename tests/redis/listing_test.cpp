// Lists of many names must be complete, ordered and paged, at the cost of one page per request.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redis_scene.hpp"
#include "routemaster/counter.hpp"

using namespace routemaster;

namespace {

constexpr int many = 2'500;

/// A bus with many names of each kind. Another program added them, so there is no index yet.
struct Many : test::RedisScene {
    Many() {
        other({"EVAL", R"(
            for i = 1, tonumber(ARGV[1]) do
                local name = string.format('%05d', i * 7919 % 99991)
                redis.call('SADD', 'topics', 't' .. name)
                redis.call('HSET', 'topic:t' .. name, 'publisher', 'pub', 'counter', i)
                redis.call('SADD', 'subscribers', 's' .. name)
                redis.call('HSET', 'subscriber:s' .. name, 'callback', 'https://x.example/')
                redis.call('HSET', 'api_tokens:by_token', 'k' .. name, 'shop')
                redis.call('HSET', 'counters', '\146\166c' .. name .. '\144', i)
                redis.call('HSET', 'counters', 'none of ours ' .. name, i)
                if i % 100 == 0 then
                    redis.call('HSET', 'counters', '\146\166c' .. name, i)
                    redis.call('HSET', 'counters', '\146\166c' .. name .. '\145\7', i)
                end
            end)",
               "0", std::to_string(many)});
    }

    /// All names, listed page by page.
    template <class S, class Key>
    std::vector<std::string> all(std::uint32_t limit, Key key) {
        std::vector<std::string> names;
        for (;;) {
            const auto part =
                perform(S{{.after = names.empty() ? "" : names.back(), .limit = limit}});
            for (const auto& one : part) names.push_back(key(one));
            if (part.size() < limit) return names;
        }
    }
    std::vector<std::string> topics(std::uint32_t limit = 1'000) {
        return all<ListTopics>(limit, [](const Topic& one) { return one.name; });
    }
    std::vector<std::string> subscribers(std::uint32_t limit = 1'000) {
        return all<ListSubscribers>(
            limit, [](const SubscriberStatus& one) { return one.subscription.token; });
    }
    std::vector<std::string> tokens(std::uint32_t limit = 1'000) {
        return all<ListTokens>(limit, [](const ApiToken& one) { return one.token; });
    }
    std::vector<std::string> counters(std::uint32_t limit = 1'000) {
        return all<ListCounters>(limit,
                                 [](const Counter& one) { return encode_counter_key(one.key); });
    }

    /// The names as another program sees them, sorted.
    std::vector<std::string> members(const std::vector<std::string>& command) {
        std::vector<std::string> names;
        for (const auto& one : other(command).list) names.push_back(one.text);
        std::sort(names.begin(), names.end());
        return names;
    }

    /// The number of calls of these commands on the server.
    [[nodiscard]] int calls(const std::vector<std::string>& commands) const {
        int sum = 0;
        for (const auto& command : commands) {
            const auto line = server.info("cmdstat_" + command);  // calls=N,…
            if (!line.empty()) sum += std::atoi(line.substr(line.find('=') + 1).c_str());
        }
        return sum;
    }
    [[nodiscard]] int reads_of_everything() const {
        return calls({"smembers", "hkeys", "hgetall"});
    }
    [[nodiscard]] int repairs() const { return calls({"sscan", "hscan"}); }
};

}  // namespace

TEST_CASE("redis: many names added by another program are listed completely and in order") {
    Many s;
    for (const std::uint32_t limit : {1'000U, 333U, 5'000U}) {
        CHECK(s.topics(limit) == s.members({"SMEMBERS", "topics"}));
        CHECK(s.subscribers(limit) == s.members({"SMEMBERS", "subscribers"}));
        CHECK(s.tokens(limit) == s.members({"HKEYS", "api_tokens:by_token"}));
        CHECK(s.counters(limit).size() == many);
    }
    const auto counters = s.counters();
    CHECK(std::is_sorted(counters.begin(), counters.end()));
    CHECK(s.perform(ListTopics{{.after = "t99", .limit = 3}}).front().publisher == "pub");
}

TEST_CASE(
    "redis: a page of many names costs only the page, and the first page a bounded amount per "
    "call") {
    Many s;
    const auto before = s.reads_of_everything();
    s.perform(ListTopics{{.limit = 10}});
    s.perform(ListCounters{{.limit = 10}});
    // Each call of a repair checks about 500 names.
    CHECK(s.repairs() >= 3 * many / 1'000);
    const auto repaired = s.repairs();
    const auto looked = s.calls({"sismember", "hexists"});
    s.perform(ListTopics{{.after = "t5", .limit = 10}});
    s.perform(ListCounters{{.limit = 10}});
    CHECK(s.calls({"sismember", "hexists"}) - looked == 20);
    CHECK(s.repairs() == repaired);
    CHECK(s.reads_of_everything() == before);
}

TEST_CASE("redis: names that steps add and remove are listed at once, without a repair") {
    Many s;
    s.topics();
    s.subscribers();
    s.tokens();
    s.counters();
    const auto repaired = s.repairs();
    s.perform(Subscribe{.token = "billing",
                        .topics = {"dogs", "fish"},
                        .options = {.callback = "https://x.example/", .timeout = Duration{0}}});
    s.publish();
    s.perform(PublishEvent{.topic = "dogs",
                           .publisher = std::nullopt,
                           .message = s.message(),
                           .timestamp = s.now,
                           .uid = *Uid::parse("BATCHBATCHBATCHBBBBB")});
    const auto lease = s.acquire();
    s.begin(lease);
    s.settle(lease);
    s.perform(AddToCounters{{{{"visits", {}}, 3}}});
    s.perform(PutToken{"a", "shop"});
    s.perform(RemoveTopic{"t00001", std::nullopt});
    s.perform(Unsubscribe{"billing", "fish"});
    s.perform(RemoveSubscriber{s.subscribers().back()});
    s.perform(RemoveToken{s.tokens().back()});

    const auto topics = s.topics();
    CHECK(std::count(topics.begin(), topics.end(), "cats") == 1);
    CHECK(topics == s.members({"SMEMBERS", "topics"}));
    CHECK(s.subscribers() == s.members({"SMEMBERS", "subscribers"}));
    CHECK(s.tokens() == s.members({"HKEYS", "api_tokens:by_token"}));
    // Counters of the publications, the batch and the delivery, and the added ones.
    CHECK(s.counters().size() > many + 10);
    CHECK(s.other({"ZCARD", "routemaster:index:counters"}).number ==
          s.other({"HLEN", "counters"}).number);
    CHECK(s.repairs() == repaired);
}

TEST_CASE("redis: names that another program adds, removes or replaces are found") {
    Many s;
    s.topics();
    s.other({"SADD", "topics", "another"});
    CHECK(s.topics() == s.members({"SMEMBERS", "topics"}));
    s.other({"SREM", "topics", "another"});
    CHECK(s.topics() == s.members({"SMEMBERS", "topics"}));
    // The number of names is unchanged, so only the page with the missing name can reveal the
    // change.
    s.other({"SREM", "topics", s.topics().front()});
    s.other({"SADD", "topics", "zebras"});
    CHECK(s.topics() == s.members({"SMEMBERS", "topics"}));
    // After the repair the index is complete.
    CHECK(s.other({"ZCARD", "routemaster:index:topics"}).number == many);
    const auto repaired = s.repairs();
    s.topics();
    CHECK(s.repairs() == repaired);
    // Removes all names except a few, which need no index.
    s.other({"EVAL", "redis.call('SPOP', 'topics', 2450)", "0"});
    CHECK(s.topics() == s.members({"SMEMBERS", "topics"}));
}

TEST_CASE("redis: names are listed even while Redis is out of memory") {
    Many s;
    s.other({"CONFIG", "SET", "maxmemory", "1"});
    CHECK(s.topics() == s.members({"SMEMBERS", "topics"}));
    CHECK(s.counters().size() == many);
}

TEST_CASE(
    "redis: a name index of the wrong type causes an error, and is created again after its "
    "removal") {
    Many s;
    s.other({"SET", "routemaster:index:topics", "x"});
    const auto listed = s.try_to(ListTopics{});
    REQUIRE_FALSE(listed);
    CHECK(listed.error().code() == Errc::corrupted);
    CHECK(listed.error().context().starts_with("WRONGTYPE "));
    s.publish();
    s.other({"DEL", "routemaster:index:topics"});
    CHECK(s.topics() == s.members({"SMEMBERS", "topics"}));
}

TEST_CASE("redis: closing the store interrupts a listing and its repair") {
    test::RedisServer server;
    for (int i = 0; i < 20; ++i) {
        server.command({"EVAL",
                        "for i = 1, 20000 do redis.call('SADD', 'topics', 't' .. i) end "
                        "redis.call('DEL', 'routemaster:index:topics')",
                        "0"});
        int answered = 0;
        {
            RedisStore store{{.addresses = {server.address()}}};
            std::vector<Step> steps(3, Step{ListTopics{}});
            store.submit(steps, from_milliseconds(1'795'222'853'691),
                         [&](std::span<Outcome> outcomes) {
                             answered += static_cast<int>(outcomes.size());
                         });
            // The store ends at an arbitrary moment of the repair.
            std::this_thread::sleep_for(std::chrono::milliseconds{i});
        }
        REQUIRE(answered == 3);
    }
}
