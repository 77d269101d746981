// Publishes at a steady rate to many subscribers, some of which fail, and reports how long events
// take to reach the healthy subscribers. For benchmarks.
//
//   bench_isolation --file FILE --receiver URL --others URL [--healthy N] [--silent N]
//                   [--failing N] [--greedy N] [--rate N] [--seconds N] [--warm-up N]
//                   [--delivery-timeout N]
//
// Each subscriber has a topic and gets each event at once. Failing subscribers never respond
// (silent) or respond with 500 (failing). `--greedy` subscribers of each of these kinds allow a
// thousand deliveries under way, and have a thousand events waiting at the start. Events are
// published to all subscribers in turns, so that the healthy subscribers together get `rate` events
// per second. One process has a dispatcher and the HTTP transport on an embedded store that syncs
// (`strict`). Prints one JSON line with the times from just before a publication until the response
// of its receiver, in milliseconds. `p99_second_ms` is the median of the p99 of each second. Events
// of the warm-up, in which connections are opened, do not count.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "options.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/transport/http.hpp"
#include "run.hpp"

namespace {

namespace rm = routemaster;
using SteadyClock = std::chrono::steady_clock;

struct Settings {
    std::string file;
    std::string receiver;
    std::string others;  ///< The receiver of silent and failing subscribers.
    unsigned healthy = 900;
    unsigned silent = 0;
    unsigned failing = 0;
    unsigned greedy = 0;
    double rate = 1'000;
    double seconds = 10;
    double warm_up = 2;  // Seconds before `seconds`.
    std::uint32_t delivery_timeout = 20;
};

constexpr std::int64_t one_second = 1'000'000'000;
constexpr unsigned backlog = 1'000;  // Of a greedy subscriber.

/// Nanoseconds of a steady clock.
std::int64_t now_ns() {
    return SteadyClock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

/// A name of letters: names of topics have no digits.
std::string letters(unsigned n) {
    std::string name;
    for (int i = 0; i < 4; ++i, n /= 26) name += static_cast<char>('a' + n % 26);
    return name;
}

/// Passes deliveries to a transport, and records how long each event of a healthy subscriber took.
/// The URL of an event ends with the time of its publication.
class Stopwatch final : public rm::Transport {
public:
    explicit Stopwatch(rm::Transport& next) : next_{next} {}

    [[nodiscard]] bool serves(std::string_view callback) const override {
        return next_.serves(callback);
    }

    void deliver(rm::Delivery delivery, rm::DeliveryDone done) override {
        if (!delivery.subscriber.starts_with("healthy")) {
            return next_.deliver(std::move(delivery), std::move(done));
        }
        std::vector<std::int64_t> sent;
        for (const auto message : delivery.messages) {
            const auto url = rm::decode_message(message).value().url;
            sent.push_back(std::stoll(url.substr(url.rfind('/') + 1)));
        }
        next_.deliver(std::move(delivery), [this, sent = std::move(sent),
                                            done = std::move(done)](rm::DeliveryReport report) {
            const auto at = now_ns();
            {
                const std::lock_guard lock{mutex_};
                if (!report.outcome) ++failures_;
                for (const auto then : sent) {
                    ++arrived_;
                    if (then < counts_from_) continue;
                    const auto second =
                        static_cast<std::size_t>((then - counts_from_) / one_second);
                    if (second >= took_ms_.size()) took_ms_.resize(second + 1);
                    took_ms_[second].push_back(static_cast<double>(at - then) / 1e6);
                }
            }
            done(std::move(report));
        });
    }

    /// The number of events that arrived at healthy subscribers.
    [[nodiscard]] std::size_t arrived() const {
        const std::lock_guard lock{mutex_};
        return arrived_;
    }

    /// From now on, only events published after `ns` count.
    void count_from(std::int64_t ns) {
        const std::lock_guard lock{mutex_};
        counts_from_ = ns;
    }

    /// The latencies of the events of each second, in milliseconds.
    [[nodiscard]] std::vector<std::vector<double>> seconds() const {
        const std::lock_guard lock{mutex_};
        if (failures_ > 0) throw std::runtime_error{"a delivery to a healthy subscriber failed"};
        return took_ms_;
    }

private:
    rm::Transport& next_;
    mutable std::mutex mutex_;  // Guards the next members.
    std::vector<std::vector<double>> took_ms_;
    std::size_t arrived_ = 0;
    std::size_t failures_ = 0;
    std::int64_t counts_from_ = 0;
};

/// All subscribers. The index of a subscriber gives the name of its topic.
class Crowd {
public:
    Crowd(rm::Bus& bus, const Settings& settings) : bus_{bus} {
        add("healthy", settings.healthy, 0, settings.receiver);
        add("silent", settings.silent, settings.greedy, settings.others);
        add("failing", settings.failing, settings.greedy, settings.others);
    }

    [[nodiscard]] std::size_t size() const noexcept { return topics_.size(); }

    /// Publishes the backlog of the greedy subscribers.
    void fill() {
        for (const auto place : greedy_) {
            std::vector<rm::Event> events(backlog, event(place));
            for (auto& outcome : bus_.publish_many(events)) outcome.value();
        }
    }

    /// Publishes an event for one subscriber, without waiting for the reply.
    void publish(std::size_t place) {
        bus_.publish(event(place), [](rm::Result<void> outcome) { outcome.value(); });
    }

private:
    void add(const std::string& kind, unsigned count, unsigned greedy,
             const std::string& receiver) {
        for (unsigned n = 0; n < count; ++n) {
            const auto name = kind + "-" + std::to_string(n);
            const auto place = topics_.size();
            topics_.push_back(letters(static_cast<unsigned>(place)));
            if (n < greedy) greedy_.push_back(place);
            bus_.subscriber(name)
                .subscribe({topics_.back()}, {.callback = receiver + "/" + name,
                                              .timeout = rm::Duration{0},
                                              .max_events = 1,
                                              .max_in_flight = n < greedy ? 1'000U : 1U})
                .value();
        }
    }

    [[nodiscard]] rm::Event event(std::size_t place) const {
        return {.topic = topics_[place],
                .type = rm::EventType::update,
                .url = "https://shop.example/" + std::to_string(now_ns())};
    }

    rm::Bus& bus_;
    std::vector<std::string> topics_;
    std::vector<std::size_t> greedy_;
};

double percentile(std::vector<double> values, double share) {
    const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + place, values.end());
    return values[static_cast<std::size_t>(place)];
}

void print(const Stopwatch& stopwatch, double cpu_seconds, std::size_t in_flight) {
    std::vector<double> all;
    std::vector<double> p99_of_seconds;
    for (const auto& second : stopwatch.seconds()) {
        if (second.empty()) continue;
        all.insert(all.end(), second.begin(), second.end());
        p99_of_seconds.push_back(percentile(second, 0.99));
    }
    std::cout << R"({"events":)" << stopwatch.arrived() << R"(,"p50_ms":)" << percentile(all, 0.5)
              << R"(,"p99_ms":)" << percentile(all, 0.99) << R"(,"p99_second_ms":)"
              << percentile(p99_of_seconds, 0.5) << R"(,"worst_ms":)" << percentile(all, 1)
              << R"(,"cpu_seconds":)" << cpu_seconds << R"(,"in_flight":)" << in_flight << "}"
              << std::endl;
}

void run(const Settings& settings) {
    rm::EmbeddedStore store{settings.file};
    rm::Bus bus{store};
    Crowd crowd{bus, settings};
    crowd.fill();
    std::this_thread::sleep_for(std::chrono::seconds{1});  // For the store's checkpoint.

    rm::HttpTransport http{{.total_timeout = std::chrono::seconds{settings.delivery_timeout},
                            .allow_http = true,
                            .allow_loopback = true}};
    Stopwatch stopwatch{http};
    rm::Dispatcher dispatcher{store, {.transports = {&stopwatch}}};
    rm::Runner runner{dispatcher, rm::system_clock(), http.spare_thread()};

    stopwatch.count_from(now_ns() + static_cast<std::int64_t>(settings.warm_up * 1e9));

    const auto share = settings.healthy / static_cast<double>(crowd.size());
    const std::chrono::duration<double> pace{share / settings.rate};
    const auto cpu_before = bench::cpu_seconds();
    const auto begun = SteadyClock::now();
    const auto events = static_cast<std::uint64_t>(settings.seconds / pace.count());
    std::size_t expected = 0;
    for (std::uint64_t n = 0; n < events; ++n) {
        std::this_thread::sleep_until(begun +
                                      std::chrono::duration_cast<SteadyClock::duration>(pace * n));
        // A stride without a common divisor visits the kinds of subscribers in turns.
        const auto place = static_cast<std::size_t>(n * 7'919 % crowd.size());
        crowd.publish(place);
        if (place < settings.healthy) ++expected;
    }
    const auto deadline = SteadyClock::now() + std::chrono::seconds{60};
    while (stopwatch.arrived() < expected) {
        if (SteadyClock::now() > deadline) throw std::runtime_error{"not every event arrived"};
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    const auto cpu = bench::cpu_seconds() - cpu_before;
    print(stopwatch, cpu, dispatcher.in_flight());
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"How long events take to healthy subscribers beside others",
                           "isolation"};
    options.add("--file", settings.file, "Of the store; must not exist").required();
    options.add("--receiver", settings.receiver, "URL of the healthy").required();
    options.add("--others", settings.others, "URL of the rest").required();
    options.add("--healthy", settings.healthy);
    options.add("--silent", settings.silent, "Never answer");
    options.add("--failing", settings.failing, "Answer 500");
    options.add("--greedy", settings.greedy, "Of each kind");
    options.add("--rate", settings.rate, "Events a second for the healthy");
    options.add("--seconds", settings.seconds);
    options.add("--warm-up", settings.warm_up, "Seconds of these that do not count");
    options.add("--delivery-timeout", settings.delivery_timeout, "Seconds");
    return options.run(argc, argv, [&] { run(settings); });
}
