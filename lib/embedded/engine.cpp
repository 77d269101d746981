#include "engine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/store/payload_bytes.hpp"
#include "replay.hpp"

namespace routemaster::embedded {
namespace {

/// While a long journal is read, a progress message is logged after this many bytes.
constexpr std::uint64_t logged_each = 256U << 20U;

/// Whether a step can be performed while the disk fails, because it writes nothing.
bool needs_no_disk(const Step& step) {
    const Changes changes = traits_of(step).changes;
    return changes == Changes::nothing || changes == Changes::liveness;
}

/// Whether a step must be rejected while the disk is full or memory is short. An `AddToCounters`
/// without increments is a test of whether the store accepts all changes, and is rejected. An
/// `AddToCounters` with increments is allowed: deliveries increment existing counters, which takes
/// no further space.
bool needs_space(const Step& step) {
    const auto* counters = std::get_if<AddToCounters>(&step);
    if (counters != nullptr) return counters->increments.empty();
    return CapacityNeed{traits_of(step).needs} != CapacityNeed::none;
}

}  // namespace

Engine::Engine(Journal& journal, EmbeddedStoreOptions options)
    : journal_{journal},
      options_{std::move(options)},
      headroom_{options_.memory_reserve},
      state_{load().value()} {
    committed_row_ = journal_.last_row();
    journal_bytes_ = journal_.bytes();
    // The process that fired the timers has ended, and will never confirm these firings. After a
    // `reload` in one process, firings are still valid.
    state_->machine.timers().end_firings();
}

// --- Submitting ---------------------------------------------------------------------------------

namespace {

/// Reserves capacity for `count` more replies. After the steps were performed, an allocation must
/// not fail.
void make_place(std::vector<PendingReply>& replies, std::size_t count) {
    const auto needed = replies.size() + count;
    if (needed > replies.capacity()) replies.reserve(2 * needed);
}

/// Largest size of a row in bytes. SQLite accepts values of 10^9 bytes, and compaction at most
/// doubles a row.
constexpr std::uint64_t row_bytes_limit = 256U << 20U;

/// A row of at least this size is closed after the current submission. This limits the memory of a
/// commit, and how long the replies of the row wait. Compaction may double the size. All steps of a
/// submission are in one row.
constexpr std::uint64_t shared_row_bytes_max = 8U << 20U;

/// Moves the replies. `to` must have capacity for them.
void move_to(std::vector<PendingReply>& to, std::vector<PendingReply>& replies) {
    std::move(replies.begin(), replies.end(), std::back_inserter(to));
    replies.clear();
}

/// Short enough for `std::string` to store it without an allocation.
constexpr auto memory_wanting = "out of memory";

}  // namespace

bool Engine::submit(std::span<Step> steps, TimePoint now, PendingReply& reply) {
    last_now_ = now;
    try {
        make_places();
        const auto [row, hurried] = perform(steps, now, reply.outcomes);
        if (options_.durability == Durability::relaxed || row <= committed_row_) return true;
        waiters_for(row).push_back(std::move(reply));
        hurried_ = hurried_ || (row > in_flight_row_ && hurried);
        return false;
    } catch (const std::bad_alloc&) {
        out_of_memory();
        reply.outcomes.replace(steps.size(), *failure_);
        return true;
    }
}

std::optional<Error> Engine::refusal(const Step& step, std::uint64_t bytes,
                                     std::uint64_t bytes_max) {
    if (failure_ && (stale_ || !needs_no_disk(step))) return failure_;
    if (needs_space(step)) {
        if (full_slack_) return Error{Errc::unavailable, "the disk is full"};
        if (memory_is_short_for(bytes)) return Error{Errc::unavailable, "memory is short"};
    }
    if (bytes <= bytes_max) return std::nullopt;
    return Error{Errc::invalid, "payload: a file takes at most " + std::to_string(bytes_max) +
                                    " bytes in one step"};
}

bool Engine::memory_is_short_for(std::uint64_t bytes) {
    const bool is_short = headroom_.is_short_for(bytes);
    if (is_short == std::exchange(memory_short_, is_short)) return is_short;
    if (is_short) {
        log(LogLevel::error,
            "memory is short: new events and jobs are refused until deliveries free memory, or the "
            "memory limit is raised");
    } else {
        log(LogLevel::info, "enough memory is free again: new events and jobs are accepted");
    }
    return is_short;
}

Engine::Awaited Engine::perform(std::span<Step> steps, TimePoint now, detail::Outcomes& outcomes) {
    auto& writer = state_->writer;
    Awaited awaited;
    if (!failure_ && writer.open_bytes() >= shared_row_bytes_max) end_full_row();
    for (std::size_t n = 0; n < steps.size(); ++n) {
        const bool ahead = !failure_ && n % detail::Machine::ahead_max == 0;
        if (ahead) state_->machine.fetch_ahead(steps.subspan(n));
        auto& step = steps[n];
        const auto bytes = detail::payload_bytes_of(step);
        const auto bytes_max = std::min(options_.row_bytes_max, row_bytes_limit);
        if (const auto refused = refusal(step, bytes, bytes_max)) {
            outcomes.add([&] { return Outcome{*refused}; });
            continue;
        }
        if (writer.open_bytes() > 0 && writer.open_bytes() + bytes > bytes_max) end_full_row();
        const bool progress = Changes{traits_of(step).changes} == Changes::progress;
        const auto encoded = writer.encoded();
        outcomes.add([&] { return state_->machine.perform(step, now); });
        const auto newest = writer.open_row() - (writer.has_changes() ? 0 : 1);
        const bool awaits_changes = !progress && writer.encoded() != encoded;
        const auto needed =
            awaits_changes ? newest : std::min(state_->machine.depends_on_row(), newest);
        awaited.row = std::max(awaited.row, needed);
        awaited.hurried = awaited.hurried || state_->machine.hurried();
    }
    return awaited;
}

/// Reserves capacity for one more reply in each list, and for merging the replies of all rows in
/// case all must be rejected.
void Engine::make_places() {
    std::size_t others = 1;
    for (auto& full : full_rows_) {
        make_place(full.replies, 1);
        others += full.replies.size();
    }
    make_place(waiting_, others);
    make_place(in_flight_, waiting_.size() + others);
}

std::vector<PendingReply>& Engine::waiters_for(std::uint64_t row) {
    if (row <= in_flight_row_) return in_flight_;
    for (auto& full : full_rows_) {
        if (row <= full.row.number) return full.replies;
    }
    return waiting_;
}

/// Closes the open row and appends it to `full_rows_`, behind the row that the driver may be
/// writing.
void Engine::end_full_row() {
    std::size_t others = 1;
    for (const auto& full : full_rows_) others += full.replies.size();
    std::vector<PendingReply> places;
    make_place(places, waiting_.size() + others);
    auto& full = full_rows_.emplace_back();
    full.row = state_->writer.close_row(journal_bytes_);
    log_unread(full.row);
    full.fence = state_->machine.jobs().leases().fence();
    full.replies = std::exchange(waiting_, std::move(places));
    hurried_ = false;
}

std::vector<std::string> Engine::take_woken() { return state_->machine.jobs().take_woken(); }

// --- Committing ---------------------------------------------------------------------------------

JournalWriter::Row Engine::close_row() {
    journal_bytes_ = journal_.bytes();
    if (!full_rows_.empty()) {
        make_places();
        auto full = std::move(full_rows_.front());
        full_rows_.pop_front();
        in_flight_row_ = full.row.number;
        in_flight_fence_ = full.fence;
        move_to(in_flight_, full.replies);
        return std::move(full.row);
    }
    auto row = state_->writer.close_row(journal_bytes_);
    log_unread(row);
    in_flight_row_ = row.number;
    in_flight_fence_ = state_->machine.jobs().leases().fence();
    in_flight_.swap(waiting_);
    hurried_ = false;
    return row;
}

void Engine::log_unread(const JournalWriter::Row& row) const {
    if (row.unread) log(LogLevel::error, "cannot compact the journal: " + row.unread->message());
}

std::vector<PendingReply> Engine::committed(const JournalWriter::Row& row) {
    committed_row_ = row.number;
    committed_fence_ = in_flight_fence_;
    state_->writer.evict(row.number);
    return std::exchange(in_flight_, std::exchange(spare_, {}));
}

void Engine::reuse(std::vector<PendingReply> sent) noexcept {
    // The vector is kept for reuse, unless a burst of replies made it large.
    if (sent.empty() && sent.capacity() <= spare_max) spare_ = std::move(sent);
}

// --- When the disk or memory fails --------------------------------------------------------------

std::vector<PendingReply> Engine::failed(const JournalWriter::Row& row, const Error& error) {
    refuse_with(error);
    log_error("cannot write the journal, steps are refused: ", error);
    for (auto& full : full_rows_) move_to(in_flight_, full.replies);
    move_to(in_flight_, waiting_);
    auto refused = std::exchange(in_flight_, {});
    auto leases = leases_to_keep(row.ended, refused);
    full_rows_.clear();
    fail_all(refused);
    try {
        reload(std::move(leases));
    } catch (const std::bad_alloc&) {
        // The error is ignored, because `heal` tries again later.
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
    log_error("changes that are not in the journal are lost, and the journal is read again: ",
              *failure_);
    for (auto& full : full_rows_) move_to(waiting_, full.replies);
    kept_leases_ = leases_to_keep({}, waiting_);
    full_rows_.clear();
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
        for (auto& outcome : reply.outcomes.all()) {
            try {
                outcome = *failure_;
            } catch (const std::bad_alloc&) {
                outcome = Error{Errc::unavailable, memory_wanting};
            }
        }
    }
}

/// Returns `known_leases`, or nothing if memory is short. The jobs of the leases are then due
/// again, as after a crash.
std::vector<Lease> Engine::leases_to_keep(const std::vector<Lease>& ended,
                                          const std::vector<PendingReply>& refused) const {
    try {
        return known_leases(ended, refused);
    } catch (const std::bad_alloc&) {
        return {};
    }
}

/// All leases that a client may still consider valid: active leases, and leases whose release was
/// not committed or not acknowledged. Leases of rejected replies are excluded, unless they are
/// older than the failed row: an earlier reply may have contained an older lease. `ended` are the
/// leases that ended in the failed row.
std::vector<Lease> Engine::known_leases(const std::vector<Lease>& ended,
                                        const std::vector<PendingReply>& refused) const {
    auto leases = state_->machine.jobs().leases().all();
    if (options_.durability == Durability::strict) {
        const auto& open = state_->writer.ended();
        leases.insert(leases.end(), ended.begin(), ended.end());
        for (const auto& full : full_rows_) {
            leases.insert(leases.end(), full.row.ended.begin(), full.row.ended.end());
        }
        leases.insert(leases.end(), open.begin(), open.end());
    }
    for (const auto& reply : refused) {
        for (const auto& outcome : reply.outcomes.all()) {
            const auto* acquired = outcome ? std::get_if<Acquired>(&*outcome) : nullptr;
            if (acquired == nullptr) continue;
            for (const auto& lease : acquired->leases) {
                if (lease.fence <= committed_fence_) continue;
                std::erase_if(leases, [&](const Lease& any) { return any.fence == lease.fence; });
            }
        }
    }
    return leases;
}

void Engine::reload(std::vector<Lease> leases) {
    const auto fence = state_->machine.jobs().leases().fence();
    stale_ = true;
    kept_leases_ = std::move(leases);
    // Frees the old state before reading the new one, because both may not fit in memory.
    state_ = std::make_unique<State>(options_, journal_);
    state_->machine.jobs().leases().skip_fences(fence);
    auto loaded = load();
    if (!loaded) {
        // All steps are rejected until `heal` has read the journal successfully.
        log_error("cannot read the journal: ", loaded.error());
        return;
    }
    state_ = *std::move(loaded);
    row_spoiled_ = false;
    stale_ = false;
    state_->machine.jobs().leases().skip_fences(fence);
    for (const auto& lease : std::exchange(kept_leases_, {})) reinstate(lease);
    committed_row_ = journal_.last_row();
    committed_fence_ = fence;
    in_flight_row_ = 0;
}

void Engine::reinstate(const Lease& lease) {
    try {
        state_->machine.jobs().reinstate(lease, last_now_);
    } catch (const Failure& failure) {
        // The job is due again. Its worker will get the error that its lease is lost.
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

/// Logs a message. Ignores a lack of memory.
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
