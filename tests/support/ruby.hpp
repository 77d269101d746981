/// @file
/// The processes of Ruby Routemaster, as far as Redis sees them: the same commands and scripts in
/// the same order, one connection for each thread.

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

/// A web process, as Redis sees its publications.
///
/// Thread safety: none.
class RubyWeb {
public:
    explicit RubyWeb(const RedisAddress& address, std::uint64_t seed = 1);

    /// Publishes one event with that URL, which happens now. The subscribers exist already.
    void publish(const std::string& topic, const std::string& url);

private:
    [[nodiscard]] std::string fresh_uid();

    RedisClient redis_;
    std::uint64_t uids_;
};

/// A worker process: a scheduler, a thread that scrubs, and threads that deliver over HTTP. Some
/// waits are shorter, to save test time: a worker is scrubbed after 3 s of silence instead of 30,
/// which is checked every second, and a failed batch waits for 100 ms. Like the original, it ends
/// at an event or a job that it cannot read, and leaves that PENDING.
class RubyWorker {
public:
    explicit RubyWorker(RedisAddress address, int threads = 5, std::uint64_t seed = 1);
    /// Stops as `stop` does.
    ~RubyWorker();
    RubyWorker(const RubyWorker&) = delete;
    RubyWorker& operator=(const RubyWorker&) = delete;

    /// Lets deliveries under way end, and removes itself from `workers`.
    void stop();
    /// Ends as at a power cut: deliveries under way are not settled.
    void kill();

    /// Batches that it delivered.
    [[nodiscard]] std::size_t delivered() const noexcept { return delivered_; }

    /// Why it ended by itself; empty when it did not.
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
    mutable std::mutex mutex_;  // Guards the text.
    std::string ended_;
    std::vector<std::thread> threads_;
};

}  // namespace routemaster::test
