// Runs an embedded store under a steady load, to measure its compaction.
//
//   bench_embedded_compaction --file FILE --live N --rate N --seconds N --rounds N
//
// There are two stores, FILE and FILE.plain. A huge slack keeps the second store from compacting.
// Both first get `--live` jobs of 200 bytes that stay: compaction must copy these jobs. Then the
// stores are under load in turns. Each millisecond the load pushes jobs of the same size to another
// queue at the given rate, each by a separate submission, and acquires and acknowledges as many
// jobs. The time of a push counts from the millisecond in which it was due, so a pause shows in all
// delayed pushes. The first turn of each store is a warm-up, in which the first store begins to
// compact. The size of the file is read every 50 ms. Prints one JSON line.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "embedded_run.hpp"
#include "jobs.hpp"
#include "options.hpp"
#include "pushes.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/embedded.hpp"
#include "run.hpp"

namespace {

namespace rm = routemaster;
using SteadyClock = std::chrono::steady_clock;

struct Settings {
    std::string file;
    std::uint64_t live = 1'000'000;
    std::uint64_t rate = 50'000;
    double seconds = 60;  ///< The load on each store.
    double warm_up = 30;
    unsigned rounds = 3;  ///< The number of turns.
};

/// The bytes of a live job in the journal, with framing.
constexpr std::uint64_t live_bytes = bench::large_job_size + 25;

constexpr const char* load_queue = "load";

/// A store under load.
class Loaded {
public:
    Loaded(const Settings& settings, std::string file, rm::EmbeddedStoreOptions options)
        : settings_{settings}, file_{std::move(file)}, store_{file_, std::move(options)} {
        bench::Pushes{store_, 16, 0, settings.live, &bench::large_job}.run(1'024);
        took_ms_.reserve(static_cast<std::size_t>(settings.seconds) * settings.rate);
    }

    /// One turn.
    void run(double seconds, bool counts) {
        counts_ = counts;
        const auto begun = SteadyClock::now();
        const auto ticks = static_cast<std::uint64_t>(seconds * 1'000);
        for (std::uint64_t tick = 0; tick < ticks; ++tick) {
            const auto due = begun + std::chrono::milliseconds{tick};
            std::this_thread::sleep_until(due);
            for (std::uint64_t n = 0; n < settings_.rate / 1'000; ++n) push(due);
            acquire();
            if (tick % 50 == 0) bytes_max_ = std::max(bytes_max_, bench::file_bytes(file_));
        }
        for (auto open = open_.load(); open != 0; open = open_.load()) open_.wait(open);
        const std::chrono::duration<double> took = SteadyClock::now() - begun;
        if (failed_) throw std::runtime_error{"an answer was not as it should be"};
        if (took.count() > seconds * 1.05) throw std::runtime_error{"the load is too much"};
        bench::check_ready(store_, settings_.live);
        check_over();
    }

    /// The latency of pushes in milliseconds. `share` of all latencies are smaller.
    [[nodiscard]] double percentile(double share) {
        const auto place = took_ms_.begin() + static_cast<std::ptrdiff_t>(
                                                  static_cast<double>(took_ms_.size()) * share);
        std::nth_element(took_ms_.begin(), place, took_ms_.end());
        return *place;
    }

    [[nodiscard]] std::uint64_t bytes_max() const noexcept { return bytes_max_; }
    [[nodiscard]] std::uint64_t bytes() const { return bench::file_bytes(file_); }
    void forget() { took_ms_.clear(); }

private:
    void push(SteadyClock::time_point due) {
        const auto now = rm::system_clock().now();
        rm::Step step{rm::PushJob{load_queue, bench::large_job(next_++), now}};
        ++open_;
        store_.submit({&step, 1}, now, [this, due](std::span<rm::Outcome> outcomes) {
            const auto reply = rm::reply_of<rm::PushJob>(outcomes.front());
            if (!reply || *reply != rm::PushOutcome::pushed) failed_ = true;
            const std::chrono::duration<float, std::milli> took = SteadyClock::now() - due;
            if (counts_) took_ms_.push_back(took.count());
            over();
        });
    }

    /// Acquires the pushed jobs.
    void acquire() {
        constexpr std::uint32_t limit = 1'000;
        const auto now = rm::system_clock().now();
        rm::Step step{rm::AcquireJobs{load_queue, worker_, limit}};
        ++open_;
        store_.submit({&step, 1}, now, [this](std::span<rm::Outcome> outcomes) {
            auto reply = rm::reply_of<rm::AcquireJobs>(outcomes.front());
            if (!reply) failed_ = true;
            if (reply) {
                for (auto& lease : reply->leases) ack(std::move(lease));
            }
            over();
        });
    }

    void ack(rm::Lease lease) {
        rm::Step step{rm::AckJob{std::move(lease)}};
        ++open_;
        store_.submit({&step, 1}, rm::system_clock().now(), [this](auto outcomes) {
            const auto reply = rm::reply_of<rm::AckJob>(outcomes.front());
            if (!reply || *reply != rm::Settlement::settled) failed_ = true;
            over();
        });
    }

    /// Fails unless all jobs of the load are done.
    void check_over() {
        const auto now = rm::system_clock().now();
        if (perform(store_, rm::CountJobs{load_queue}, now).value() != rm::QueueStatus{}) {
            throw std::runtime_error{"jobs are left"};
        }
    }

    void over() {
        if (--open_ == 0) open_.notify_all();
    }

    const Settings& settings_;
    const std::string file_;
    rm::EmbeddedStore store_;
    const rm::Uid worker_{rm::entropy(), rm::entropy()};
    std::uint64_t next_ = 0;
    std::uint64_t bytes_max_ = 0;
    std::atomic<std::uint64_t> open_{0};
    std::atomic<bool> failed_{false};
    std::atomic<bool> counts_{false};
    std::vector<float> took_ms_;  ///< Written by the store's thread; read when no step is in
                                  ///< flight.
};

void run(const Settings& settings) {
    Loaded compacted{settings, settings.file, bench::embedded_options()};
    auto without = bench::embedded_options();
    without.slack_max = std::numeric_limits<std::uint64_t>::max() / 4;
    Loaded plain{settings, settings.file + ".plain", without};
    const auto turn = settings.seconds / settings.rounds;
    compacted.run(settings.warm_up, false);
    plain.run(settings.warm_up, false);
    std::cout << R"({"rounds":[)";
    double cpu = 0;
    for (unsigned n = 0; n < settings.rounds; ++n) {
        const auto before = bench::cpu_seconds();
        compacted.run(turn, true);
        cpu += bench::cpu_seconds() - before;
        plain.run(turn, true);
        std::cout << (n == 0 ? "" : ",") << R"({"p50_ms":)" << compacted.percentile(0.5)
                  << R"(,"p99_ms":)" << compacted.percentile(0.99) << R"(,"p999_ms":)"
                  << compacted.percentile(0.999) << R"(,"plain_p50_ms":)" << plain.percentile(0.5)
                  << R"(,"plain_p99_ms":)" << plain.percentile(0.99) << R"(,"plain_p999_ms":)"
                  << plain.percentile(0.999) << "}";
        compacted.forget();
        plain.forget();
    }
    const auto cycles = settings.seconds * static_cast<double>(settings.rate);
    std::cout << R"(],"file_bytes":)" << compacted.bytes_max() << R"(,"file_bytes_end":)"
              << compacted.bytes() << R"(,"plain_file_bytes":)" << plain.bytes_max()
              << R"(,"live_bytes":)" << live_bytes * settings.live << R"(,"cpu_us_per_op":)"
              << cpu / cycles * 1e6 << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Puts an embedded store under a steady load", "embedded_compaction"};
    options.add("--file", settings.file, "Of the store; must not exist").required();
    options.add("--live", settings.live, "Jobs that wait");
    options.add("--rate", settings.rate, "Jobs a second, in thousands");
    options.add("--seconds", settings.seconds, "Of load on each");
    options.add("--warm-up", settings.warm_up, "Seconds before");
    options.add("--rounds", settings.rounds, "In which they take turns");
    return options.run(argc, argv, [&settings] { run(settings); });
}
