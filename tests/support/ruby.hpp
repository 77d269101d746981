/// @file
/// Imitations of Ruby Routemaster's processes, which send Redis the same commands and scripts in
/// the same order. Each thread has its own connection.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "routemaster/store/redis.hpp"
#include "support/redis_client.hpp"

namespace routemaster::test {

/// The publishing part of a Ruby web process.
///
/// Thread safety: none.
class RubyWeb {
public:
    explicit RubyWeb(const RedisAddress& address, std::uint64_t seed = 1);

    /// Publishes an event with this URL and the current time. All subscribers must exist already.
    void publish(const std::string& topic, const std::string& url);

private:
    [[nodiscard]] std::string fresh_uid();

    RedisClient redis_;
    std::uint64_t uids_;
};

/// A Ruby worker process: a scheduler, a scrubbing thread, and threads for deliveries over HTTP.
/// Some times are shorter than Ruby's, to keep tests fast: a worker is dead after 3 s of silence
/// instead of 30 s, checked every second, and a failed batch waits for 100 ms. Like Ruby's, the
/// worker ends at an unreadable event or job, and leaves the job PENDING.
class RubyWorker {
public:
    explicit RubyWorker(RedisAddress address, int threads = 5, std::uint64_t seed = 1);
    /// Calls `stop`.
    ~RubyWorker();
    RubyWorker(const RubyWorker&) = delete;
    RubyWorker& operator=(const RubyWorker&) = delete;

    /// Lets deliveries under way end, and removes the worker from `workers`.
    void stop();
    /// Ends without settling deliveries, as in a power cut.
    void kill();

    /// The number of delivered batches.
    [[nodiscard]] std::size_t delivered() const noexcept { return delivered_; }

    /// The reason why the worker ended by itself; empty without such an end.
    [[nodiscard]] std::string ended() const;

private:
    void schedule();
    void scrub();
    void keep_house(const std::string& id);
    /// Ends all threads.
    void end_because(const std::string& reason);
    void work(const std::string& id);
    void run(RedisClient& redis, const std::string& id, const std::string& job);
    void end();

    RedisAddress address_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> killed_{false};
    std::atomic<std::size_t> delivered_{0};
    mutable std::mutex mutex_;  // Guards `ended_`.
    std::string ended_;
    std::vector<std::thread> threads_;
};

}  // namespace routemaster::test
