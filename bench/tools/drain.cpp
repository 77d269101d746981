// Delivers a queue of events over HTTP, for benchmarks.
//
//   bench_drain --file FILE --receiver URL --subscribers N --events N --max-events N
//
// All subscribers subscribe to one topic. Publishes events to it until `--events` events are queued
// in full batches, on an embedded store that syncs (`strict`). Then a dispatcher with the HTTP
// transport starts. The measured time is from its first acquisition until the last settlement is on
// disk. Prints one JSON line.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "batches.hpp"
#include "options.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/transport/http.hpp"
#include "run.hpp"

namespace {

namespace rm = routemaster;
using SteadyClock = std::chrono::steady_clock;

struct Settings {
    std::string file;
    std::string receiver;
    unsigned subscribers = 1;
    std::uint64_t events = 200'000;  ///< Total in the queues of all subscribers.
    std::uint32_t max_events = 100;
};

/// Records the times of the first acquisition and of the last settlement.
class Stopwatch final : public rm::ForwardingStore {
public:
    Stopwatch(rm::Store& next, std::uint64_t deliveries)
        : ForwardingStore{next}, left_{deliveries} {}

    void submit(std::span<rm::Step> steps, rm::TimePoint now, rm::Completion done) override {
        const auto& first = steps.front();
        if (std::holds_alternative<rm::AcquireJobs>(first)) begin();
        if (!std::holds_alternative<rm::SettleDelivery>(first)) {
            return next().submit(steps, now, std::move(done));
        }
        next().submit(steps, now, [this, done = std::move(done)](std::span<rm::Outcome> outcomes) {
            count(outcomes);
            done(outcomes);
        });
    }

    /// Waits until all deliveries are settled. Returns the duration.
    SteadyClock::duration wait() {
        for (auto left = left_.load(); left != 0; left = left_.load()) left_.wait(left);
        return ended_ - begun_;
    }

private:
    void begin() {
        if (std::exchange(running_, true)) return;
        begun_ = SteadyClock::now();
    }

    void count(std::span<rm::Outcome> outcomes) {
        std::uint64_t settled = 0;
        for (const auto& outcome : outcomes) {
            if (outcome && std::get<rm::Settlement>(*outcome) == rm::Settlement::settled) ++settled;
        }
        if (left_.load() == settled) ended_ = SteadyClock::now();
        if (left_.fetch_sub(settled) == settled) left_.notify_all();
    }

    bool running_ = false;
    SteadyClock::time_point begun_;
    SteadyClock::time_point ended_;
    std::atomic<std::uint64_t> left_;
};

/// Fills the queues. Returns the number of published events.
std::uint64_t fill(rm::Store& store, const Settings& settings) {
    using namespace std::chrono_literals;
    constexpr std::uint64_t chunk = 1'000;
    rm::Bus bus{store};
    for (unsigned n = 0; n < settings.subscribers; ++n) {
        const auto name = bench::subscriber_name(n);
        bus.subscriber(name)
            .subscribe({"orders"}, {.callback = settings.receiver + "/" + name,
                                    .timeout = 1h,
                                    .max_events = settings.max_events})
            .value();
    }
    const auto published = settings.events / settings.subscribers;
    for (std::uint64_t n = 0; n < published;) {
        std::vector<rm::Event> events;
        while (n < published && events.size() < chunk) events.push_back(bench::order_event(++n));
        for (auto& outcome : bus.publish_many(events)) static_cast<void>(outcome.value());
    }
    return published;
}

void run(const Settings& settings) {
    const auto batches = settings.events / settings.subscribers / settings.max_events;
    if (batches * settings.subscribers * settings.max_events != settings.events) {
        throw bench::BadOption{"--events: must be full batches, equally many for each"};
    }
    rm::EmbeddedStore store{settings.file};
    const auto filling = SteadyClock::now();
    const auto published = fill(store, settings);
    const std::chrono::duration<double> filled = SteadyClock::now() - filling;

    Stopwatch stopwatch{store, batches * settings.subscribers};
    rm::HttpTransport transport{{.allow_http = true, .allow_loopback = true}};
    rm::Dispatcher dispatcher{stopwatch, {.transports = {&transport}, .log = &bench::warn}};
    const auto cpu_before = bench::cpu_seconds();
    rm::Runner runner{dispatcher, rm::system_clock(), transport.spare_thread()};
    const std::chrono::duration<double> seconds = stopwatch.wait();
    const auto cpu = bench::cpu_seconds() - cpu_before;
    std::cout << R"({"events":)" << settings.events << R"(,"deliveries":)"
              << batches * settings.subscribers << R"(,"seconds":)" << seconds.count()
              << R"(,"cpu_seconds":)" << cpu << R"(,"publish_per_second":)"
              << static_cast<double>(published) / filled.count() << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Delivers a queue of events over HTTP", "drain"};
    options.add("--file", settings.file, "Of the store; must not exist").required();
    options.add("--receiver", settings.receiver, "URL").required();
    options.add("--subscribers", settings.subscribers);
    options.add("--events", settings.events, "Queued in all");
    options.add("--max-events", settings.max_events, "In a batch");
    return options.run(argc, argv, [&settings] { run(settings); });
}
