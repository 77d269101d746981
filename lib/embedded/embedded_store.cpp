#include "routemaster/store/embedded.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "journal_file.hpp"
#include "journal_writer.hpp"
#include "replay.hpp"
#include "routemaster/detail/state/machine.hpp"
#include "routemaster/detail/watchers.hpp"

namespace routemaster {
namespace {

using embedded::JournalFile;
using embedded::JournalWriter;

/// How long `relaxed` may keep effects off the disk.
constexpr std::chrono::milliseconds relaxed_sync{50};

/// How soon a disk that failed is tried again, and how often when it goes on failing.
constexpr std::chrono::milliseconds probe_wait_min{10};
constexpr std::chrono::milliseconds probe_wait_max{200};

/// The state, and the writer that follows it. Made anew when the disk refused what it had become.
struct State {
    explicit State(std::uint64_t slack_max) : writer{slack_max}, machine{writer} {}

    JournalWriter writer;
    detail::Machine machine;
};

/// A caller whose answer reveals a row that is not on disk yet.
struct Waiter {
    std::uint64_t row;
    std::vector<Outcome> outcomes;
    Completion done;
};

/// Whether a step only tells what there is: those are answered even while the disk fails.
bool only_tells(const Step& step) {
    return std::holds_alternative<ListTopics>(step) ||
           std::holds_alternative<ListSubscribers>(step) ||
           std::holds_alternative<FindSubscriber>(step) ||
           std::holds_alternative<ListBatches>(step) || std::holds_alternative<FindToken>(step) ||
           std::holds_alternative<ListTokens>(step) || std::holds_alternative<CountJobs>(step) ||
           std::holds_alternative<ListCounters>(step) || std::holds_alternative<Heartbeat>(step) ||
           std::holds_alternative<MeasureUse>(step);
}

}  // namespace

struct EmbeddedStore::Impl {
    Impl(const std::filesystem::path& path, EmbeddedStoreOptions settings)
        : options{std::move(settings)}, file{path} {
        state = load().value();
        committed_row = file.last_row();
        committer = std::thread{[this] { commit_until_stopped(); }};
    }

    ~Impl() {
        {
            const std::lock_guard lock{mutex};
            stopping = true;
            changed.notify_one();
        }
        committer.join();
    }

    // --- Submitting -----------------------------------------------------------------------------

    void submit(std::span<Step> steps, TimePoint now, Completion done) {
        std::vector<Outcome> outcomes;
        outcomes.reserve(steps.size());
        std::vector<std::string> woken;
        bool at_once = false;
        {
            const std::lock_guard lock{mutex};
            last_now = now;
            const auto row = perform(steps, now, outcomes);
            woken = state->machine.jobs().take_woken();
            at_once = options.durability == Durability::relaxed || row <= committed_row;
            if (!at_once) {
                auto& waiters = row <= in_flight_row ? in_flight : waiting;
                waiters.push_back({row, std::move(outcomes), std::move(done)});
            }
            if (committer_idle && has_work()) changed.notify_one();
        }
        watchers.wake(woken);
        if (at_once) done(outcomes);
    }

    /// Performs the steps and answers the newest row that their outcomes reveal.
    std::uint64_t perform(std::span<Step> steps, TimePoint now, std::vector<Outcome>& outcomes) {
        auto& writer = state->writer;
        std::uint64_t row = 0;
        for (auto& step : steps) {
            if (failure && (stale || !only_tells(step))) {
                outcomes.emplace_back(*failure);
                continue;
            }
            const auto told = writer.told();
            outcomes.push_back(state->machine.perform(step, now));
            const auto newest = writer.open_row() - (writer.has_effects() ? 0 : 1);
            const bool changed_something = writer.told() != told;
            row = std::max(row,
                           changed_something ? newest : std::min(state->machine.reveals(), newest));
        }
        return row;
    }

    [[nodiscard]] bool has_work() const { return state->writer.has_effects() || !waiting.empty(); }

    // --- Committing -----------------------------------------------------------------------------

    void commit_until_stopped() {
        std::unique_lock lock{mutex};
        while (true) {
            committer_idle = true;
            if (failure) {
                changed.wait_for(lock, probe_wait, [this] { return stopping; });
            } else {
                changed.wait(lock, [this] { return stopping || has_work(); });
                if (options.durability == Durability::relaxed && !stopping) {
                    changed.wait_for(lock, relaxed_sync, [this] { return stopping; });
                }
            }
            committer_idle = false;
            if (failure) {
                if (stopping) return;
                try_to_heal(lock);
            } else if (has_work()) {
                commit(lock);
            } else if (stopping) {
                return;
            }
        }
    }

    void commit(std::unique_lock<std::mutex>& lock) {
        const auto row = state->writer.close_row(file.bytes());
        in_flight_row = row.number;
        in_flight.swap(waiting);
        lock.unlock();
        auto written = file.append(row.effects, row.needed, row.crowded);
        lock.lock();
        if (!written) return fail(written.error(), row.ended, lock);
        committed_row = row.number;
        auto answered = std::exchange(in_flight, {});
        lock.unlock();
        for (auto& waiter : answered) waiter.done(waiter.outcomes);
        answered.clear();
        lock.lock();
    }

    // --- When the disk fails --------------------------------------------------------------------

    /// What is in memory is ahead of the disk, and stays so for ever: it is dropped, and the state
    /// made anew from what is on disk. `ended` are the leases that ended in the row that failed.
    void fail(const Error& error, const std::vector<Lease>& ended,
              std::unique_lock<std::mutex>& lock) {
        const Error refusal{Errc::unavailable, error.context()};
        failure = refusal;
        probe_wait = probe_wait_min;
        log(LogLevel::error, "cannot write the journal, steps are refused: " + error.message());
        auto refused = std::exchange(in_flight, {});
        std::move(waiting.begin(), waiting.end(), std::back_inserter(refused));
        waiting.clear();
        reload(known_leases(ended, refused));
        lock.unlock();
        for (auto& waiter : refused) {
            for (auto& outcome : waiter.outcomes) outcome = refusal;
            waiter.done(waiter.outcomes);
        }
        lock.lock();
    }

    /// Leases whose holders believe in them: those that are held, and those that ended in a row
    /// that is not on disk, unless they were told so; but not those that were never told of.
    [[nodiscard]] std::vector<Lease> known_leases(const std::vector<Lease>& ended,
                                                  const std::vector<Waiter>& refused) const {
        auto leases = state->machine.jobs().leases();
        if (options.durability == Durability::strict) {
            const auto& open = state->writer.ended();
            leases.insert(leases.end(), ended.begin(), ended.end());
            leases.insert(leases.end(), open.begin(), open.end());
        }
        for (const auto& waiter : refused) {
            for (const auto& outcome : waiter.outcomes) {
                const auto* acquired = outcome ? std::get_if<Acquired>(&*outcome) : nullptr;
                if (acquired == nullptr) continue;
                for (const auto& lease : acquired->leases) std::erase(leases, lease);
            }
        }
        return leases;
    }

    void reload(const std::vector<Lease>& leases) {
        const auto fence = state->machine.jobs().fence();
        auto loaded = load();
        if (!loaded) {
            // Nothing can be read either, so nothing can be told. Healing tries again.
            log(LogLevel::error, "cannot read the journal: " + loaded.error().message());
            stale = true;
            kept_leases = leases;
            return;
        }
        stale = false;
        state = *std::move(loaded);
        state->machine.jobs().skip_fences(fence);
        for (const auto& lease : leases) state->machine.jobs().reinstate(lease, last_now);
        committed_row = file.last_row();
        in_flight_row = 0;
    }

    void try_to_heal(std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        const auto probed = file.probe();
        lock.lock();
        if (probed && stale) reload(kept_leases);
        if (!probed || stale) {
            probe_wait = std::min(2 * probe_wait, probe_wait_max);
            return;
        }
        failure.reset();
        log(LogLevel::info, "the journal can be written again");
        // The state that was made anew does not know who wants to be woken.
        lock.unlock();
        watchers.wake_all();
        lock.lock();
    }

    // --- Loading --------------------------------------------------------------------------------

    Result<std::unique_ptr<State>> load() {
        auto loaded = std::make_unique<State>(options.slack_max);
        std::uint64_t row = 0;
        auto read = file.read([&](std::uint64_t number, std::string_view effects) {
            row = number;
            return embedded::replay(effects, number, loaded->machine, loaded->writer);
        });
        if (!read) return read.error();
        loaded->machine.settle_restored();
        loaded->writer.open(row + 1);
        return loaded;
    }

    void log(LogLevel level, const std::string& text) const {
        if (options.log) options.log(level, text);
    }

    EmbeddedStoreOptions options;
    JournalFile file;  // Used by the committer alone, once that runs.
    detail::Watchers watchers;

    std::mutex mutex;  // Guards the rest.
    std::condition_variable changed;
    std::unique_ptr<State> state;
    std::vector<Waiter> waiting;    // For the open row.
    std::vector<Waiter> in_flight;  // For the row that is being written, or an older one.
    std::uint64_t in_flight_row = 0;
    std::uint64_t committed_row = 0;
    std::optional<Error> failure;  // Set while the disk refuses.
    std::chrono::milliseconds probe_wait{probe_wait_min};
    bool stale = false;  // The state could not be made anew.
    std::vector<Lease> kept_leases;
    TimePoint last_now{};
    bool committer_idle = false;
    bool stopping = false;
    std::thread committer;
};

EmbeddedStore::EmbeddedStore(const std::filesystem::path& file, EmbeddedStoreOptions options)
    : impl_{std::make_unique<Impl>(file, std::move(options))} {}

EmbeddedStore::~EmbeddedStore() = default;

void EmbeddedStore::submit(std::span<Step> steps, TimePoint now, Completion done) {
    impl_->submit(steps, now, std::move(done));
}

Watch EmbeddedStore::watch(const std::string& queue, std::function<void()> wake) {
    return impl_->watchers.add(queue, std::move(wake));
}

}  // namespace routemaster
