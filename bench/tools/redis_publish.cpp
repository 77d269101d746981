// Publishes events to a bus on Redis, for benchmarks.
//
//   bench_redis_publish --url URL --count N --in-flight N --subscribers N
//
// Lets subscribers in, with the defaults of the original (batches of 100 events or 500 ms), and
// publishes events whose messages have 65 bytes through `Bus::publish`, each when an earlier one is
// answered, so that as many as asked are always under way. Nothing is delivered. At the end the bus
// must have queued each event for each subscriber, in addition to what was there before. Prints one
// JSON line.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "redis_run.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/redis.hpp"

namespace {

namespace rm = routemaster;

struct Settings {
    bench::RedisSettings redis;
    std::uint32_t subscribers = 1;
};

constexpr std::size_t message_size = 65;

/// An event whose message has that size.
rm::Event event(std::uint64_t n) {
    constexpr std::uint64_t numbers = 90'000'000;
    constexpr std::uint64_t first = 10'000'000;
    return {.topic = "orders",
            .type = rm::EventType::update,
            .url = "https://s.example/" + std::to_string(first + n % numbers)};
}

/// Publishes so many events.
class Publications {
public:
    Publications(rm::Bus& bus, std::uint64_t count) : bus_{bus}, open_{count}, count_{count} {}

    void run(std::uint32_t in_flight) {
        if (count_ == 0) return;
        for (std::uint32_t n = 0; n < in_flight; ++n) publish();
        finish_.wait();
    }

private:
    void publish() {
        const auto n = next_.fetch_add(1);
        if (n >= count_) return;
        bus_.publish(event(n), [this](const rm::Result<rm::PublishOutcome>& outcome) {
            if (!outcome) return finish_.failed(outcome.error().message());
            if (*outcome != rm::PublishOutcome::published) return finish_.failed("forbidden");
            publish();
            if (open_.fetch_sub(1) == 1) finish_.reached();
        });
    }

    rm::Bus& bus_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint64_t> open_;
    const std::uint64_t count_;
    bench::Finish finish_;
};

/// How many events are queued for each subscriber.
std::vector<std::uint64_t> queued(rm::Bus& bus, std::uint32_t subscribers) {
    std::vector<std::uint64_t> counts;
    for (std::uint32_t n = 0; n < subscribers; ++n) {
        const auto status = bus.subscriber("s" + std::to_string(n)).status().value();
        counts.push_back(status.has_value() ? status->events_queued : 0);
    }
    return counts;
}

void run(const Settings& settings) {
    const auto& redis = settings.redis;
    const auto subscribers = settings.subscribers;
    const auto size = rm::encode_message(event(0), rm::system_clock().now()).size();
    if (size != message_size) throw std::runtime_error{"a message has " + std::to_string(size)};
    rm::RedisStore store{bench::redis_options(redis)};
    rm::Bus bus{store, {.publisher = "bench-publisher"}};
    for (std::uint32_t n = 0; n < subscribers; ++n) {
        const auto token = "s" + std::to_string(n);
        const auto callback = "https://subscriber.example/" + token;
        bus.subscriber(token).subscribe({"orders"}, {.callback = callback}).value();
    }
    auto expected = queued(bus, subscribers);
    for (auto& count : expected) count += redis.warm_up + redis.count;
    Publications{bus, redis.warm_up}.run(redis.in_flight);
    bench::measure(redis.count, [&] { Publications{bus, redis.count}.run(redis.in_flight); });
    if (queued(bus, subscribers) != expected) {
        throw std::runtime_error{"not every event is queued for every subscriber"};
    }
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app{"Publishes events to a bus on Redis", "redis_publish"};
    bench::declare(app, settings.redis);
    app.add_option("--subscribers", settings.subscribers)->capture_default_str();
    return bench::run_main(app, argc, argv, [&settings] { run(settings); });
}
