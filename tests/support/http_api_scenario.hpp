/// @file
/// An `HttpApi` over a memory store, called without a socket.

#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/codec/json.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/manual_clock.hpp"

namespace http_api_test {

namespace rm = routemaster;

inline constexpr const char* root = "root-KEY";
inline constexpr const char* shop = "shop--0123456789abcdef0123456789abcdef";
inline constexpr const char* billing = "billing--fedcba9876543210fedcba9876543210";
/// The JSON of an event.
inline const std::string an_event = R"({"type":"update","url":"https://shop.example/1"})";
/// 2026-11-21 01:01:41.123 UTC.
inline constexpr rm::TimePoint noon = rm::from_milliseconds(1'795'222'901'123);

inline std::string base64(std::string_view bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t bits = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t j = 0; j < 3; ++j) {
            bits = bits << 8U | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text += j <= count ? digits[bits >> (18U - 6U * j) & 63U] : '=';
        }
    }
    return text;
}

/// A request of `user`, with the Ruby client's password; without authorization when `user` is
/// empty.
inline rm::HttpRequest request(std::string method, const std::string& target,
                               const std::string& user, std::string body = {}) {
    const auto mark = std::min(target.find('?'), target.size());
    rm::HttpRequest made{.method = std::move(method),
                         .path = target.substr(0, mark),
                         .query = target.substr(std::min(mark + 1, target.size())),
                         .authorization = {},
                         .content_type = "application/json",
                         .body = std::move(body)};
    if (!user.empty()) {
        made.has_authorization = true;
        made.authorization = "Basic " + base64(user + ":x");
    }
    return made;
}

inline std::string header(const rm::HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) return value;
    }
    return {};
}

/// The contents of a store, to compare.
struct Holdings {
    std::vector<rm::Topic> topics;
    std::vector<rm::SubscriberStatus> subscribers;
    std::vector<rm::ApiToken> tokens;
    std::vector<rm::Counter> counters;
    std::vector<rm::BatchStatus> batches;
    std::vector<rm::DeadBatchStatus> dead;
    rm::QueueStatus jobs;
    rm::QueueStatus images;  ///< The jobs of the queue `images`.
    friend bool operator==(const Holdings&, const Holdings&) = default;
};

template <class S>
typename S::Reply done(rm::Store& store, S step) {
    return rm::perform(store, std::move(step), noon).value();
}

inline Holdings holdings(rm::Store& store) {
    Holdings all{.topics = done(store, rm::ListTopics{}),
                 .subscribers = done(store, rm::ListSubscribers{}),
                 .tokens = done(store, rm::ListTokens{}),
                 .counters = done(store, rm::ListCounters{}),
                 .batches = {},
                 .dead = {},
                 .jobs = done(store, rm::CountJobs{rm::delivery_queue}),
                 .images = done(store, rm::CountJobs{"images"})};
    for (const auto& subscriber : all.subscribers) {
        const auto some = done(store, rm::ListBatches{subscriber.subscription.token});
        for (const auto& batch : some) all.batches.push_back(batch.status);
        const auto dead = done(store, rm::ListDeadBatches{subscriber.subscription.token});
        all.dead.insert(all.dead.end(), dead.begin(), dead.end());
    }
    return all;
}

inline rm::HttpApiOptions default_options() { return {.root_key = root}; }

/// Calls `api`, and returns its response. The API must respond exactly once, during the call.
inline rm::HttpResponse ask_at_once(rm::HttpApi& api, rm::HttpRequest request) {
    std::vector<rm::HttpResponse> answers;
    api.handle(std::move(request),
               [&](rm::HttpResponse answer) { answers.push_back(std::move(answer)); });
    REQUIRE(answers.size() == 1);
    return answers.front();
}

/// A bus with two clients, `shop` and `billing`.
struct Scenario {
    explicit Scenario(rm::HttpApiOptions options = default_options())
        : api{store, with_clock(std::move(options), clock)} {
        done(store, rm::PutToken{shop, "shop"});
        done(store, rm::PutToken{billing, "billing"});
    }

    rm::HttpResponse ask(rm::HttpRequest request) { return ask_at_once(api, std::move(request)); }
    rm::HttpResponse get(std::string path, const std::string& user) {
        return ask(request("GET", std::move(path), user));
    }
    rm::HttpResponse post(std::string path, const std::string& user, std::string body) {
        return ask(request("POST", std::move(path), user, std::move(body)));
    }
    rm::HttpResponse remove(std::string path, const std::string& user) {
        return ask(request("DELETE", std::move(path), user));
    }

    static rm::HttpApiOptions with_clock(rm::HttpApiOptions options, const rm::Clock& clock) {
        options.clock = &clock;
        return options;
    }

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore store;
    rm::HttpApi api;
};

/// Checks that a request is refused with this status and body, and changes nothing.
inline void refused(Scenario& bus, const rm::HttpRequest& request, int status,
                    std::string_view body) {
    INFO(request.method << " " << request.path << " " << request.body);
    const auto before = holdings(bus.store);
    const auto answer = bus.ask(request);
    CHECK(answer.status == status);
    CHECK(answer.body == body);
    CHECK(answer.content_type == "text/plain;charset=utf-8");
    CHECK(holdings(bus.store) == before);
}

}  // namespace http_api_test
