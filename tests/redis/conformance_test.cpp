// The conformance suite on Redis: a single server, a prefix behind a `FaultyStore` without faults,
// and a cluster.

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "conformance/register.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_server.hpp"

using namespace routemaster;

namespace {

/// Long, because steps of megabytes may wait for the processor on a busy machine.
constexpr Duration step_timeout{60'000};

/// A server for one store at a time. The server is empty, but may be reused by the next store:
/// starting a server takes longer than most cases.
class LentServer {
public:
    LentServer() : server_{std::move(left_)} {
        if (server_) {
            server_->command({"FLUSHALL", "SYNC"});
        } else {
            server_ = std::make_unique<test::RedisServer>();
        }
    }
    ~LentServer() { left_ = std::move(server_); }

    LentServer(const LentServer&) = delete;
    LentServer& operator=(const LentServer&) = delete;

    [[nodiscard]] RedisAddress address() const { return server_->address(); }

    static void stop() { left_.reset(); }

private:
    inline static std::unique_ptr<test::RedisServer> left_;
    std::unique_ptr<test::RedisServer> server_;
};

/// Stops the remaining server while doctest still exists: the end of a process uses its checks.
struct StopsServer final : doctest::IReporter {
    explicit StopsServer(const doctest::ContextOptions&) {}

    void test_run_end(const doctest::TestRunStats&) override { LentServer::stop(); }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("stops_server", 1, StopsServer);

/// A store on a lent server.
class OnServer final : public Store {
public:
    explicit OnServer(std::string prefix)
        : store_{{.addresses = {server_.address()},
                  .prefix = std::move(prefix),
                  .timeout = step_timeout}} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        store_.submit(steps, now, std::move(done));
    }
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return store_.watch(queue, std::move(wake));
    }

private:
    LentServer server_;
    RedisStore store_;
};

std::unique_ptr<Store> open() { return std::make_unique<OnServer>(""); }

std::unique_ptr<Store> open_undisturbed() {
    return std::make_unique<test::Behind<testing::FaultyStore>>(
        std::make_unique<OnServer>("shop:"));
}

const test::Conformance redis{"redis", {open}};
const test::Conformance undisturbed{"redis behind a faulty store without faults",
                                    {open_undisturbed}};

}  // namespace

// One cluster for all cases, because a cluster takes two seconds to start. Each case has its own
// slot.
TEST_CASE("redis cluster: the whole suite") {
    test::RedisCluster cluster{3};
    int number = 0;
    const testing::StoreFixture fixture{[&]() -> std::unique_ptr<Store> {
        const auto tag = "{bus" + std::to_string(++number) + "}:";
        return std::make_unique<RedisStore>(
            RedisOptions{.addresses = {cluster.node(0).address(), cluster.node(1).address()},
                         .prefix = tag,
                         .timeout = step_timeout});
    }};
    for (const auto& one : testing::store_conformance()) {
        CAPTURE(one.name);
        CHECK_NOTHROW(one.run(fixture));
    }
    CHECK(number > 100);
}

// In a mixed deployment, batches do not wait for earlier failed batches, and `main` accepts no jobs
// of other kinds. All further guarantees hold.
TEST_CASE(
    "redis in a mixed fleet: the whole suite, without the guarantees that a mixed fleet lacks") {
    const std::set<std::string> given_up{
        "a failed batch blocks its subscriber's next batches until its retry",
        "a batch keeps its place when its delivery job is nacked",
        "a throttled batch blocks its subscriber's next batches",
        "a subscriber with failing batches does not delay other subscribers",
        "only a delivery job can be begun and settled as a delivery",
        // Batches that began in the same millisecond have no order.
        "batches are listed in delivery order",
        "a subscriber has at most one CURRENT batch while eight threads publish",
        "lowering max_in_flight blocks the batches that are not under way",
        "gauges, counters and deliveries agree after a long random walk",
        // Deliveries to a removed subscriber end as deliveries to a URL, where Ruby workers find
        // them.
        "any worker may end the deliveries to a removed subscriber",
        // Names and jobs at which Ruby workers would crash are refused.
        "a topic's name may contain digits, dots and hyphens",
        "an invalid subscription is refused, names the field, changes nothing",
        "jobs in Ruby Routemaster's queues have no ids, no options, and no count of attempts",
        "jobs in Ruby Routemaster's queues can be follow-up jobs, and can have follow-up jobs",
        "jobs of Ruby Routemaster's queues are acquired in chunks, too",
        // Ruby's web process creates a topic before subscribing to the topic.
        "subscribing replaces the topics and creates unknown topics without an owner",
        "a topic that only subscriptions created ends with the last subscription",
        // Ruby workers know no groups, and therefore no shares.
        "when a subscriber has its share of deliveries, its next delivery begins when one ends",
        "a window smaller than worker capacity grows by one with each ended delivery, up to the "
        "capacity",
        "a batch that keeps failing does not keep the delivery window small",
        "a delivery window begins with 16 batches, and grows with each success",
        "each failure shrinks a delivery window by two, but not below 16",
        "a settlement shrinks a window that exceeds the capacity of the workers",
        "a subscriber's first batch may begin without free capacity, too",
        "a batch beyond max_in_flight is not attempted, and takes events until its delivery begins",
        "raising max_in_flight does not grow a smaller delivery window",
        // The next batch does not wait for a failed batch.
        "a batch is DEAD after its last attempt, and then the next begins",
        "a redelivered batch joins the end of the queue, and its age counts from the redelivery",
        "a batch that is delivered on request does not overtake earlier batches of its subscriber",
    };
    test::RedisServer server;
    int number = 0;
    const testing::StoreFixture fixture{[&]() -> std::unique_ptr<Store> {
        const auto prefix = "bus" + std::to_string(++number) + ":";
        return std::make_unique<RedisStore>(RedisOptions{.addresses = {server.address()},
                                                         .prefix = prefix,
                                                         .mixed_fleet = true,
                                                         .timeout = step_timeout});
    }};
    std::size_t left_out = 0;
    for (const auto& one : testing::store_conformance()) {
        if (given_up.contains(one.name)) {
            ++left_out;
            continue;
        }
        CAPTURE(one.name);
        CHECK_NOTHROW(one.run(fixture));
    }
    CHECK(left_out == given_up.size());
    CHECK(number > 100);
}
