#include "engine.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <string_view>
#include <utility>
#include <variant>

#include "replay.hpp"

namespace routemaster::embedded {
namespace {

/// Bytes of a long journal between two progress lines.
constexpr std::uint64_t logged_each = 256U << 20U;

/// Whether a step is answered even while the disk fails: nothing of it would be written.
bool needs_no_disk(const Step& step) {
    const Changes changes = traits_of(step).changes;
    return changes == Changes::nothing || changes == Changes::liveness;
}

/// Whether a step is refused while the disk is full. To add to no counter asks whether the store
/// takes changes, and it does not take all of them; counters themselves take no further space, as
/// deliveries count in the same ones again and again.
bool needs_space(const Step& step) {
    const auto* counters = std::get_if<AddToCounters>(&step);
    if (counters != nullptr) return counters->increments.empty();
    return CapacityNeed{traits_of(step).needs} != CapacityNeed::none;
}

}  // namespace

Engine::Engine(Journal& journal, EmbeddedStoreOptions options)
    : journal_{journal}, options_{std::move(options)}, state_{load().value()} {
    committed_row_ = journal_.last_row();
}

// --- Submitting ---------------------------------------------------------------------------------

namespace {

/// So that `count` more need no memory: once the steps are performed, nothing must fail.
void make_place(std::vector<PendingReply>& replies, std::size_t count) {
    const auto needed = replies.size() + count;
    if (needed > replies.capacity()) replies.reserve(2 * needed);
}

/// Short enough to be copied without memory.
constexpr auto memory_wanting = "out of memory";

}  // namespace

bool Engine::submit(std::span<Step> steps, TimePoint now, PendingReply& reply) {
    last_now_ = now;
    try {
        make_place(waiting_, 1);
        make_place(in_flight_, waiting_.size() + 1);
        const auto [row, hurried] = perform(steps, now, reply.outcomes);
        if (options_.durability == Durability::relaxed || row <= committed_row_) return true;
        auto& waiters = row <= in_flight_row_ ? in_flight_ : waiting_;
        waiters.push_back(std::move(reply));
        hurried_ = hurried_ || (row > in_flight_row_ && hurried);
        return false;
    } catch (const std::bad_alloc&) {
        out_of_memory();
        reply.outcomes.assign(steps.size(), *failure_);
        return true;
    }
}

Engine::Awaited Engine::perform(std::span<Step> steps, TimePoint now,
                                std::vector<Outcome>& outcomes) {
    auto& writer = state_->writer;
    Awaited awaited;
    for (auto& step : steps) {
        if (failure_ && (stale_ || !needs_no_disk(step))) {
            outcomes.emplace_back(*failure_);
            continue;
        }
        if (full_slack_ && needs_space(step)) {
            outcomes.emplace_back(Error{Errc::unavailable, "the disk is full"});
            continue;
        }
        const bool progress = Changes{traits_of(step).changes} == Changes::progress;
        const auto encoded = writer.encoded();
        outcomes.push_back(state_->machine.perform(step, now));
        const auto newest = writer.open_row() - (writer.has_changes() ? 0 : 1);
        const bool awaits_changes = !progress && writer.encoded() != encoded;
        const auto needed =
            awaits_changes ? newest : std::min(state_->machine.depends_on_row(), newest);
        awaited.row = std::max(awaited.row, needed);
        awaited.hurried = awaited.hurried || state_->machine.hurried();
    }
    return awaited;
}

std::vector<std::string> Engine::take_woken() { return state_->machine.jobs().take_woken(); }

// --- Committing ---------------------------------------------------------------------------------

JournalWriter::Row Engine::close_row() {
    auto row = state_->writer.close_row(journal_.bytes());
    if (row.unread) log(LogLevel::error, "cannot compact the journal: " + row.unread->message());
    in_flight_row_ = row.number;
    in_flight_.swap(waiting_);
    hurried_ = false;
    return row;
}

std::vector<PendingReply> Engine::committed(const JournalWriter::Row& row) {
    committed_row_ = row.number;
    state_->writer.evict(row.number);
    return std::exchange(in_flight_, {});
}

// --- When the disk or memory fails --------------------------------------------------------------

std::vector<PendingReply> Engine::failed(const JournalWriter::Row& row, const Error& error) {
    refuse_with(error);
    log_error("cannot write the journal, steps are refused: ", error);
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(in_flight_));
    waiting_.clear();
    auto refused = std::exchange(in_flight_, {});
    auto leases = leases_to_keep(row.ended, refused);
    fail_all(refused);
    try {
        reload(std::move(leases));
    } catch (const std::bad_alloc&) {
        // Healing tries again.
    }
    return refused;
}

void Engine::out_of_memory() noexcept {
    refuse_with({Errc::unavailable, memory_wanting});
    stale_ = true;
    row_spoiled_ = true;
}

std::vector<PendingReply> Engine::take_refused() {
    if (!std::exchange(row_spoiled_, false)) return {};
    log_error("loses what is not in the journal yet, and reads the journal again: ", *failure_);
    kept_leases_ = leases_to_keep({}, waiting_);
    fail_all(waiting_);
    return std::exchange(waiting_, {});
}

void Engine::refuse_with(const Error& error) noexcept {
    try {
        failure_.emplace(Errc::unavailable, error.context());
    } catch (const std::bad_alloc&) {
        failure_.emplace(Errc::unavailable, memory_wanting);
    }
}

void Engine::fail_all(std::vector<PendingReply>& replies) const {
    for (auto& reply : replies) {
        for (auto& outcome : reply.outcomes) {
            try {
                outcome = *failure_;
            } catch (const std::bad_alloc&) {
                outcome = Error{Errc::unavailable, memory_wanting};
            }
        }
    }
}

/// Without memory for them none: their jobs run again, as after a crash.
std::vector<Lease> Engine::leases_to_keep(const std::vector<Lease>& ended,
                                          const std::vector<PendingReply>& refused) const {
    try {
        return known_leases(ended, refused);
    } catch (const std::bad_alloc&) {
        return {};
    }
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

void Engine::reload(std::vector<Lease> leases) {
    const auto fence = state_->machine.jobs().fence();
    stale_ = true;
    kept_leases_ = std::move(leases);
    // Both states at once might not fit in memory.
    state_ = std::make_unique<State>(options_, journal_);
    state_->machine.jobs().skip_fences(fence);
    auto loaded = load();
    if (!loaded) {
        // The journal cannot be read either, so nothing can be answered. `heal` tries again.
        log_error("cannot read the journal: ", loaded.error());
        return;
    }
    state_ = *std::move(loaded);
    row_spoiled_ = false;
    stale_ = false;
    state_->machine.jobs().skip_fences(fence);
    for (const auto& lease : std::exchange(kept_leases_, {})) reinstate(lease);
    committed_row_ = journal_.last_row();
    in_flight_row_ = 0;
}

void Engine::reinstate(const Lease& lease) {
    try {
        state_->machine.jobs().reinstate(lease, last_now_);
    } catch (const Failure& failure) {
        // The job runs again, and its worker gets the reply that the lease is lost.
        log_error("cannot read a job: ", failure.error());
    }
}

bool Engine::heal(const Result<void>& probed) {
    if (probed && stale_) reload(std::move(kept_leases_));
    if (!probed || stale_) return false;
    failure_.reset();
    log(LogLevel::info, "the store works again: steps are accepted");
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

/// Nothing is logged when there is no memory for it.
void Engine::log(LogLevel level, std::string_view text, std::string_view detail) const {
    if (!options_.log) return;
    try {
        options_.log(level, std::string{text} + std::string{detail});
    } catch (const std::bad_alloc&) {
        return;
    }
}

void Engine::log_error(std::string_view what, const Error& error) const {
    log(LogLevel::error, what, error.message());
}

}  // namespace routemaster::embedded
