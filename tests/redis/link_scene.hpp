/// @file
/// `LinkScene`: a link to a real server, with readable results of calls.

#pragma once

#include <doctest/doctest.h>
#include <hiredis/hiredis.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/link.hpp"
#include "routemaster/store/redis.hpp"
#include "support/await.hpp"
#include "support/recorded_log.hpp"
#include "support/redis_server.hpp"

namespace routemaster::test {

/// A script with its SHA-1.
inline redis::Script make_script(std::string_view name, std::string_view source) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(source.data(), source.size(), digest.data(), &size, EVP_sha1(), nullptr);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) {
        constexpr std::string_view digits = "0123456789abcdef";
        hex += digits[digest[i] >> 4U];
        hex += digits[digest[i] & 15U];
    }
    return {name, std::string{source}, hex};
}

/// Returns its argument.
inline const redis::Script echo = make_script("echo", "return ARGV[1]");
/// Appends its argument to a list. Returns the length of the list.
inline const redis::Script append =
    make_script("append", "return redis.call('rpush', KEYS[1], ARGV[1])");
/// Runs its argument as Lua.
inline const redis::Script run = make_script("run", "return loadstring(ARGV[1])()");

/// The text of a reply, with nested lists in brackets.
inline std::string dump(const redisReply& reply) {
    switch (reply.type) {
        case REDIS_REPLY_NIL: return "nothing";
        case REDIS_REPLY_INTEGER: return std::to_string(reply.integer);
        case REDIS_REPLY_ARRAY: {
            std::string all = "[";
            for (std::size_t i = 0; i < reply.elements; ++i) {
                all += (i > 0 ? ", " : "") + dump(*reply.element[i]);
            }
            return all + "]";
        }
        default: return {reply.str, static_cast<std::size_t>(reply.len)};
    }
}

/// The result as text: the reply, or `code: context`.
inline std::string dump(const redis::CallResult& answer) {
    if (answer) return dump(**answer);
    return answer.error().code().message() + ": " + answer.error().context();
}

/// Records the messages received on the channel.
class Heard {
public:
    void operator()(std::string_view message) {
        const std::lock_guard lock{mutex_};
        all_.emplace_back(message);
        changed_.notify_all();
    }

    /// Waits for `count` messages. Returns all messages.
    [[nodiscard]] std::vector<std::string> await(std::size_t count) const {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return all_.size() >= count; });
        return all_;
    }

private:
    mutable std::mutex mutex_;  // Guards `all_`.
    mutable std::condition_variable changed_;
    std::vector<std::string> all_;
};

/// A link that listens to the channel `wake`.
class LinkScene {
public:
    /// `options` are the link's options. The log is replaced.
    explicit LinkScene(RedisOptions options)
        : link{with_log(std::move(options)), "wake",
               [this](std::string_view message) { heard(message); }} {}
    explicit LinkScene(const RedisServer& server, Duration timeout = Duration{5'000})
        : LinkScene{RedisOptions{.addresses = {server.address()}, .timeout = timeout}} {}

    /// Waits until the link is connected and has subscribed.
    void await_connected() {
        link.wait_until_connected(Duration{10'000}).value();
        REQUIRE(heard.await(1).size() == 1);
    }

    static redis::Call call(const redis::Script& script, std::string_view key,
                            std::string_view argument,
                            std::function<void(redis::CallResult)> done) {
        redis::Call call{.script = &script, .done = std::move(done)};
        if (key.empty()) {
            call.arguments.add(0);
        } else {
            call.arguments.add(1).add(key);
        }
        call.arguments.add(argument);
        return call;
    }

    /// Sends a call. Returns its result as text.
    std::future<std::string> begin(const redis::Script& script, std::string_view key,
                                   std::string_view argument) {
        auto promise = std::make_shared<std::promise<std::string>>();
        auto one = call(script, key, argument, [promise](const redis::CallResult& answer) {
            promise->set_value(dump(answer));
        });
        auto answer = promise->get_future();
        link.send({&one, 1});
        return answer;
    }

    /// Waits for a result. Fails the test at the timeout.
    static std::string end(std::future<std::string> answer) {
        REQUIRE(answer.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
        return answer.get();
    }

    /// Sends a call, and waits for the result.
    std::string ask(const redis::Script& script, std::string_view key, std::string_view argument) {
        return end(begin(script, key, argument));
    }
    std::string ask_echo(std::string_view text) { return ask(echo, {}, text); }

    RecordedLog log;
    Heard heard;
    redis::Link link;

private:
    RedisOptions with_log(RedisOptions options) const {
        options.log = log.sink();
        return options;
    }
};

/// Measures a duration.
class Stopwatch {
public:
    [[nodiscard]] Duration elapsed() const {
        return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begin_);
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace routemaster::test
