// The one conformance suite over Redis: a server alone, with a prefix behind a faulty store without
// faults, and a cluster.

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "conformance/register.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_server.hpp"

using namespace routemaster;

namespace {

/// A store on a server of its own, which goes away after it.
class OnServer final : public Store {
public:
    explicit OnServer(std::string prefix)
        : store_{{.addresses = {server_.address()}, .prefix = std::move(prefix)}} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        store_.submit(steps, now, std::move(done));
    }
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return store_.watch(queue, std::move(wake));
    }

private:
    test::RedisServer server_;
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

// One cluster for all cases, since it takes two seconds to start; each has a slot of its own.
TEST_CASE("redis cluster: the whole suite") {
    test::RedisCluster cluster{3};
    int number = 0;
    const testing::StoreFixture fixture{[&]() -> std::unique_ptr<Store> {
        const auto tag = "{bus" + std::to_string(++number) + "}:";
        return std::make_unique<RedisStore>(RedisOptions{
            .addresses = {cluster.node(0).address(), cluster.node(1).address()}, .prefix = tag});
    }};
    for (const auto& one : testing::store_conformance()) {
        CAPTURE(one.name);
        CHECK_NOTHROW(one.run(fixture));
    }
    CHECK(number > 100);
}
