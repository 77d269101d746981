#include "http/tls_meter.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

using namespace routemaster::detail;

namespace {

constexpr std::int64_t bound = 1'000'000;

struct Scene {
    /// Receives `weight` in a separate iteration.
    void receive(std::int64_t weight) {
        budget.refill();
        meter->count(weight);
        budget.refill();
    }

    TurnBudget budget;
    std::shared_ptr<TlsMeter> meter = std::make_shared<TlsMeter>(budget);
};

}  // namespace

TEST_CASE("all connections of an iteration share one byte budget, which each iteration renews") {
    Scene scene;
    TlsMeter other{scene.budget};
    CHECK(scene.meter->may_read());
    for (int i = 0; i < 100; ++i) scene.meter->count(TlsMeter::read_weight);
    CHECK_FALSE(scene.meter->may_read());
    CHECK_FALSE(other.may_read());
    scene.budget.refill();
    CHECK(scene.meter->may_read());
    CHECK(other.may_read());
}

TEST_CASE("a connection receives up to the sum of its responses' size limits, and then nothing") {
    Scene scene;
    const TlsMeter::Share first{scene.meter, bound};
    const TlsMeter::Share second{scene.meter, bound};
    scene.receive(2 * bound);
    CHECK(scene.meter->may_read());
    CHECK_FALSE(first.is_exceeded());
    CHECK_FALSE(second.is_exceeded());
    scene.receive(1);
    CHECK(first.is_exceeded());
    CHECK(second.is_exceeded());
    CHECK_FALSE(scene.meter->may_read());
}

TEST_CASE("bytes that small responses leave unused do not raise the limit of their connection") {
    Scene scene;
    std::optional<TlsMeter::Share> first{std::in_place, scene.meter, bound};
    for (int i = 0; i < 10; ++i) {
        std::optional<TlsMeter::Share> next{std::in_place, scene.meter, bound};
        scene.receive(1'000);
        first.reset();
        first.emplace(scene.meter, bound);
    }
    scene.receive(2 * bound);
    CHECK(first->is_exceeded());
}

TEST_CASE("bytes received between responses count towards no response") {
    Scene scene;
    scene.receive(2 * bound);
    CHECK(scene.meter->may_read());
    const TlsMeter::Share share{scene.meter, bound};
    CHECK(scene.meter->may_read());
    scene.receive(bound);
    CHECK_FALSE(share.is_exceeded());
}
