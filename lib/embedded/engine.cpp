#include "engine.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "replay.hpp"

namespace routemaster::embedded {
namespace {

/// Bytes of a long journal between two progress lines.
constexpr std::uint64_t logged_each = 256U << 20U;

/// Whether a step only reads: those are performed even while the disk fails.
bool only_reads(const Step& step) {
    return std::holds_alternative<ListTopics>(step) ||
           std::holds_alternative<ListSubscribers>(step) ||
           std::holds_alternative<FindSubscriber>(step) ||
           std::holds_alternative<ListBatches>(step) ||
           std::holds_alternative<ListDeadBatches>(step) ||
           std::holds_alternative<FindDeadBatch>(step) || std::holds_alternative<FindToken>(step) ||
           std::holds_alternative<ListTokens>(step) || std::holds_alternative<CountJobs>(step) ||
           std::holds_alternative<ListCounters>(step) || std::holds_alternative<Heartbeat>(step) ||
           std::holds_alternative<MeasureUse>(step);
}

/// Whether a step adds data. The others remove it in the end. `AddToCounters` with an empty list
/// asks whether the store takes changes, and a full one does not take all of them.
bool adds(const Step& step) {
    const auto* counters = std::get_if<AddToCounters>(&step);
    if (counters != nullptr && counters->increments.empty()) return true;
    return std::holds_alternative<PublishEvent>(step) || std::holds_alternative<PushJob>(step) ||
           std::holds_alternative<Subscribe>(step) || std::holds_alternative<PutToken>(step) ||
           std::holds_alternative<RedeliverDeadBatches>(step);
}

}  // namespace

Engine::Engine(Journal& journal, EmbeddedStoreOptions options)
    : journal_{journal}, options_{std::move(options)}, state_{load().value()} {
    committed_row_ = journal_.last_row();
}

// --- Submitting ---------------------------------------------------------------------------------

bool Engine::submit(std::span<Step> steps, TimePoint now, PendingReply& reply) {
    last_now_ = now;
    const auto row = perform(steps, now, reply.outcomes);
    if (options_.durability == Durability::relaxed || row <= committed_row_) return true;
    auto& waiters = row <= in_flight_row_ ? in_flight_ : waiting_;
    waiters.push_back(std::move(reply));
    return false;
}

/// Performs the steps and returns the newest row that their outcomes depend on.
std::uint64_t Engine::perform(std::span<Step> steps, TimePoint now,
                              std::vector<Outcome>& outcomes) {
    auto& writer = state_->writer;
    std::uint64_t row = 0;
    for (auto& step : steps) {
        if (failure_ && (stale_ || !only_reads(step))) {
            outcomes.emplace_back(*failure_);
            continue;
        }
        if (full_slack_ && adds(step)) {
            outcomes.emplace_back(Error{Errc::unavailable, "the disk is full"});
            continue;
        }
        const auto encoded = writer.encoded();
        outcomes.push_back(state_->machine.perform(step, now));
        const auto newest = writer.open_row() - (writer.has_changes() ? 0 : 1);
        const bool changed_something = writer.encoded() != encoded;
        row = std::max(
            row, changed_something ? newest : std::min(state_->machine.depends_on_row(), newest));
    }
    return row;
}

std::vector<std::string> Engine::take_woken() { return state_->machine.jobs().take_woken(); }

// --- Committing ---------------------------------------------------------------------------------

JournalWriter::Row Engine::close_row() {
    auto row = state_->writer.close_row(journal_.bytes());
    if (row.unread) log(LogLevel::error, "cannot compact the journal: " + row.unread->message());
    in_flight_row_ = row.number;
    in_flight_.swap(waiting_);
    return row;
}

std::vector<PendingReply> Engine::committed(const JournalWriter::Row& row) {
    committed_row_ = row.number;
    state_->writer.evict(row.number);
    return std::exchange(in_flight_, {});
}

// --- When the disk fails ------------------------------------------------------------------------

std::vector<PendingReply> Engine::failed(const JournalWriter::Row& row, const Error& error) {
    const Error refusal{Errc::unavailable, error.context()};
    failure_ = refusal;
    log(LogLevel::error, "cannot write the journal, steps are refused: " + error.message());
    auto refused = std::exchange(in_flight_, {});
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(refused));
    waiting_.clear();
    reload(known_leases(row.ended, refused));
    for (auto& reply : refused) {
        for (auto& outcome : reply.outcomes) outcome = refusal;
    }
    return refused;
}

/// Leases a client may still consider valid: active ones, and releases not yet committed or
/// acknowledged; but not acquisitions that were never acknowledged. `ended` are the leases that
/// ended in the row that failed.
std::vector<Lease> Engine::known_leases(const std::vector<Lease>& ended,
                                        const std::vector<PendingReply>& refused) const {
    auto leases = state_->machine.jobs().leases();
    if (options_.durability == Durability::strict) {
        const auto& open = state_->writer.ended();
        leases.insert(leases.end(), ended.begin(), ended.end());
        leases.insert(leases.end(), open.begin(), open.end());
    }
    for (const auto& reply : refused) {
        for (const auto& outcome : reply.outcomes) {
            const auto* acquired = outcome ? std::get_if<Acquired>(&*outcome) : nullptr;
            if (acquired == nullptr) continue;
            for (const auto& lease : acquired->leases) std::erase(leases, lease);
        }
    }
    return leases;
}

void Engine::reload(const std::vector<Lease>& leases) {
    const auto fence = state_->machine.jobs().fence();
    // Both states at once might not fit in memory.
    state_ = std::make_unique<State>(options_, journal_);
    state_->machine.jobs().skip_fences(fence);
    auto loaded = load();
    if (!loaded) {
        // The journal cannot be read either, so nothing can be answered. `heal` tries again.
        log(LogLevel::error, "cannot read the journal: " + loaded.error().message());
        stale_ = true;
        kept_leases_ = leases;
        return;
    }
    stale_ = false;
    state_ = *std::move(loaded);
    state_->machine.jobs().skip_fences(fence);
    for (const auto& lease : leases) reinstate(lease);
    committed_row_ = journal_.last_row();
    in_flight_row_ = 0;
}

void Engine::reinstate(const Lease& lease) {
    try {
        state_->machine.jobs().reinstate(lease, last_now_);
    } catch (const Failure& failure) {
        // The job runs again, and its worker is told that the lease is lost.
        log(LogLevel::error, "cannot read a job: " + failure.error().message());
    }
}

bool Engine::heal(const Result<void>& probed) {
    if (probed && stale_) reload(kept_leases_);
    if (!probed || stale_) return false;
    failure_.reset();
    log(LogLevel::info, "the journal can be written again");
    return true;
}

void Engine::run_full(std::optional<std::uint64_t> slack) {
    if (slack.has_value() == full_slack_.has_value()) return;
    full_slack_ = slack;
    state_->writer.keep_small(slack);
    if (slack) {
        log(LogLevel::error,
            "the disk is full: new events and jobs are refused until deliveries free space, or the "
            "disk has space again");
    } else {
        log(LogLevel::info, "the disk has space again");
    }
}

// --- Loading ------------------------------------------------------------------------------------

Result<std::unique_ptr<Engine::State>> Engine::load() {
    auto loaded = std::make_unique<State>(options_, journal_);
    loaded->writer.keep_small(full_slack_);
    std::uint64_t row = 0;
    std::uint64_t bytes = 0;
    std::uint64_t logged = 0;
    const auto log_progress = [&](const char* how_far) {
        log(LogLevel::info,
            "reading the journal: " + std::to_string(bytes >> 20U) + " MiB" + how_far);
        logged = bytes;
    };
    auto read = journal_.read([&](std::uint64_t number, std::string_view changes) {
        row = number;
        auto replayed = replay(changes, number, loaded->machine, loaded->writer);
        loaded->writer.evict(number);
        bytes += changes.size();
        if (bytes - logged >= logged_each) log_progress(" so far");
        return replayed;
    });
    if (!read) return read.error();
    if (logged > 0) log_progress(", done");
    loaded->machine.settle_restored();
    loaded->writer.open(row + 1);
    return loaded;
}

void Engine::log(LogLevel level, const std::string& text) const {
    if (options_.log) options_.log(level, text);
}

}  // namespace routemaster::embedded
