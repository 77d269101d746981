/// @file
/// A minute with all faults of a distributed bus on Redis, while two publishers continue.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routemaster/random.hpp"
#include "support/await.hpp"
#include "support/batch_receiver.hpp"
#include "support/redis_server.hpp"
#include "support/running_fleet.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr seconds trouble_lasts{60};
constexpr std::size_t webs_count = 2;
constexpr std::size_t workers_count = 3;
constexpr std::size_t publishers_count = 2;
const std::vector<std::string> tokens{"billing", "audit", "search"};

/// Two Redis servers; each can be the master. Both write each change to disk before they reply, and
/// a failover waits for the replica. Therefore Redis never loses an acknowledged change.
class RedisPair {
public:
    RedisPair() { follow(); }

    [[nodiscard]] std::string url() const {
        return "redis://127.0.0.1:" + std::to_string(servers_[0].port()) +
               ",127.0.0.1:" + std::to_string(servers_[1].port()) + "?timeout=2000";
    }
    [[nodiscard]] const test::RedisServer& master() const { return servers_[master_]; }

    /// Kills the master, as a power cut does, and restarts it.
    void crash(milliseconds away) {
        servers_[master_].kill();
        std::this_thread::sleep_for(away);
        servers_[master_].start();
        follow();
    }

    /// Makes the replica the master.
    void fail_over() {
        const auto in_step = [&] {
            return master().info("slave0").find("lag=0") != std::string::npos;
        };
        if (!test::await(in_step, seconds{3})) return;
        try {
            master().command({"FAILOVER", "TIMEOUT", "2000"});
        } catch (const test::RedisFailure&) {
            return;
        }
        REQUIRE(
            test::await([&] { return master().info("master_failover_state") == "no-failover"; }));
        if (master().info("role") == "slave") master_ = 1 - master_;
    }

    void stall(milliseconds span) {
        servers_[master_].pause();
        std::this_thread::sleep_for(span);
        servers_[master_].resume();
    }

private:
    static std::vector<std::string> durable() {
        return {
            "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"};
    }

    void follow() {
        servers_[1 - master_].command(
            {"REPLICAOF", "127.0.0.1", std::to_string(servers_[master_].port())});
    }

    test::RedisServer servers_[2]{test::RedisServer{durable()}, test::RedisServer{durable()}};
    std::size_t master_ = 0;
};

/// Starts a process, repeatedly if Redis is unreachable during the start.
template <class Process>
std::unique_ptr<Process> started(const std::string& store) {
    constexpr int tries_max = 10;
    for (int tries = 1;; ++tries) {
        try {
            return std::make_unique<Process>(store);
        } catch (const std::exception&) {
            if (tries == tries_max) throw;
        }
    }
}

/// Web processes that start and stop, and the currently available processes.
class Webs {
public:
    explicit Webs(std::string store) : store_{std::move(store)} {
        for (auto& web : webs_) web = started<test::RunningWeb>(store_);
    }

    [[nodiscard]] std::shared_ptr<test::RunningWeb> get(std::size_t index) const {
        const std::lock_guard lock{mutex_};
        return webs_[index % webs_count];
    }

    void crash(std::size_t index) {
        auto& process = get(index)->process();
        process.signal(SIGKILL);
        process.wait();
        std::shared_ptr<test::RunningWeb> fresh = started<test::RunningWeb>(store_);
        const std::lock_guard lock{mutex_};
        webs_[index] = std::move(fresh);
    }

private:
    std::string store_;
    mutable std::mutex mutex_;  // Guards the pointers.
    std::shared_ptr<test::RunningWeb> webs_[webs_count];
};

std::string url_of(std::size_t publisher, int number) {
    return "https://shop.example/" + std::to_string(publisher) + "/" + std::to_string(number);
}

/// Publishes events one by one, and records each acknowledged event.
class ChaosPublisher {
public:
    ChaosPublisher(std::size_t index, const Webs& webs, const std::atomic<bool>& over)
        : thread_{[this, index, &webs, &over] {
              for (int number = 1; !over; ++number) {
                  if (publish(index, number, webs)) acknowledged_.push_back(number);
                  std::this_thread::sleep_for(milliseconds{3});
              }
          }} {}

    /// The numbers of the acknowledged events, in order.
    const std::vector<int>& join() {
        thread_.join();
        return acknowledged_;
    }

private:
    static bool publish(std::size_t index, int number, const Webs& webs) {
        const auto web = webs.get(index + static_cast<std::size_t>(number));
        try {
            return web->publish("orders", url_of(index, number)).status == 200;
        } catch (const std::exception&) {
            return false;  // The web process has ended, or did not respond.
        }
    }

    std::vector<int> acknowledged_;
    std::thread thread_;
};

/// The events that a subscriber got from one publisher, without repetitions, in the order of
/// arrival.
std::vector<int> firsts(const std::vector<std::string>& urls, std::size_t publisher) {
    const auto beginning = url_of(publisher, 0).substr(0, url_of(publisher, 0).size() - 1);
    std::set<int> seen;
    std::vector<int> order;
    for (const auto& url : urls) {
        if (!url.starts_with(beginning)) continue;
        const auto number = std::stoi(url.substr(beginning.size()));
        if (seen.insert(number).second) order.push_back(number);
    }
    return order;
}

/// The number of repeated batches. The first event identifies a batch.
std::size_t repeats(const std::vector<test::BatchReceiver::Delivery>& deliveries) {
    std::set<std::string> seen;
    std::size_t count = 0;
    for (const auto& delivery : deliveries) {
        if (delivery.status == 204 && !seen.insert(delivery.urls.at(0)).second) ++count;
    }
    return count;
}

/// The value of a counter, summed over all tags.
std::int64_t counter(const test::RedisServer& redis, const std::string& name) {
    std::int64_t sum = 0;
    const auto fields = redis.command({"HGETALL", "counters"}).list;
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
        if (fields[i].text.find(name) != std::string::npos) sum += std::stoll(fields[i + 1].text);
    }
    return sum;
}

}  // namespace

TEST_CASE("a minute of crashes of all processes loses no acknowledged event, and keeps the order") {
    const auto seed = test::seed(1);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    RedisPair redis;
    Webs webs{redis.url()};
    std::vector<std::unique_ptr<test::RunningWorker>> workers;
    for (std::size_t i = 0; i < workers_count; ++i) {
        workers.push_back(started<test::RunningWorker>(redis.url()));
    }
    test::BatchReceiver receivers[3];
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        // With this delay a delivery is under way most of the time: most kills interrupt a
        // delivery.
        receivers[i].delay_each(milliseconds{20});
        REQUIRE(webs.get(0)
                    ->subscribe(tokens[i], R"(["orders"])", receivers[i].url(),
                                R"("timeout":20,"max":50)")
                    .status == 204);
    }

    std::atomic<bool> over{false};
    std::vector<std::unique_ptr<ChaosPublisher>> publishers;
    for (std::size_t i = 0; i < publishers_count; ++i) {
        publishers.push_back(std::make_unique<ChaosPublisher>(i, webs, over));
    }
    std::map<std::string, int> troubles;
    const auto end = std::chrono::steady_clock::now() + trouble_lasts;
    while (std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(milliseconds{300 + static_cast<int>(random.below(1'200))});
        const auto worker = static_cast<std::size_t>(random.below(workers_count));
        switch (random.below(6)) {
            case 0:
                ++troubles["worker killed"];
                workers[worker]->kill();
                workers[worker] = started<test::RunningWorker>(redis.url());
                break;
            case 1:
                ++troubles["worker stopped"];
                CHECK(workers[worker]->stop() == 0);
                workers[worker] = started<test::RunningWorker>(redis.url());
                break;
            case 2:
                ++troubles["web killed"];
                webs.crash(random.below(webs_count));
                break;
            case 3:
                ++troubles["failover"];
                redis.fail_over();
                break;
            case 4:
                ++troubles["Redis killed"];
                redis.crash(milliseconds{random.below(1'000)});
                break;
            default:
                ++troubles["Redis stalled"];
                redis.stall(milliseconds{random.below(1'000)});
                break;
        }
    }
    over = true;

    std::size_t acknowledged = 0;
    for (std::size_t i = 0; i < publishers_count; ++i) {
        const auto& numbers = publishers[i]->join();
        REQUIRE(!numbers.empty());
        acknowledged += numbers.size();
        for (std::size_t r = 0; r < tokens.size(); ++r) {
            CAPTURE(tokens[r]);
            REQUIRE_MESSAGE(test::await(
                                [&] {
                                    const auto got = firsts(receivers[r].accepted(), i);
                                    const std::set<int> all{got.begin(), got.end()};
                                    return std::includes(all.begin(), all.end(), numbers.begin(),
                                                         numbers.end());
                                },
                                seconds{30}),
                            "every event answered 200 arrives");
            // An event in doubt may have been published late, so its place is unknown.
            auto got = firsts(receivers[r].accepted(), i);
            const std::set<int> known{numbers.begin(), numbers.end()};
            std::erase_if(got, [&](int number) { return !known.contains(number); });
            CHECK_MESSAGE(std::is_sorted(got.begin(), got.end()), "in order");
        }
    }
    std::size_t again = 0;
    for (const auto& receiver : receivers) again += repeats(receiver.deliveries());
    const auto scrubbed = counter(redis.master(), "jobs.scrubbed");
    std::string list;
    for (const auto& [trouble, times] : troubles) {
        list += trouble + " " + std::to_string(times) + ", ";
    }
    MESSAGE(acknowledged, " events acknowledged; ", list, again, " batches arrived again, ",
            scrubbed, " leases were lost");
    CHECK_MESSAGE(again <= static_cast<std::size_t>(scrubbed), "only where a lease was lost");
    for (auto& worker : workers) CHECK(worker->stop() == 0);
}
