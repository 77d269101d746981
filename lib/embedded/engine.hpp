/// @file
/// `Engine`: the embedded store without its thread, lock and clock.
///
///     submit ──► replied to at once
///        └─ waits ──close_row──► (driver writes the row) ──committed──► replied to
///                                                     └─failed──► refused until healed

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/machine.hpp"
#include "core/store/outcomes.hpp"
#include "core/system/memory_headroom.hpp"
#include "journal.hpp"
#include "journal_writer.hpp"
#include "routemaster/error.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/time.hpp"

namespace routemaster::embedded {

/// The callback of a submission, and the replies of its steps.
struct PendingReply {
    Completion done;
    detail::Outcomes outcomes;

    /// Calls the callback. A callback that runs out of memory is destroyed, because nothing else
    /// can report the error.
    void send() {
        try {
            done(outcomes.all());
        } catch (const std::bad_alloc&) {
            done = nullptr;
        }
    }
};

/// Performs steps in memory, and decides which rows must be written and when each reply may be
/// sent.
///
/// The driver of an engine is the object that owns it. The driver writes the rows. Writing takes
/// long and needs no lock, so other threads may submit steps meanwhile. The driver reports to the
/// engine whether the row was written. A reply is sent only after the rows with its changes are
/// written. The engine returns the replies, and the driver sends them without holding its lock.
///
/// Not thread safe: the driver serialises calls.
class Engine {
public:
    /// Reads the journal, which must outlive the engine. Throws `Failure` on error.
    Engine(Journal& journal, EmbeddedStoreOptions options);

    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Performs steps and puts the replies of the steps into `reply`. True if the driver may send
    /// `reply` at once. If false, the engine moved from `reply`, and `committed`, `failed` or
    /// `take_refused` returns it later.
    [[nodiscard]] bool submit(std::span<Step> steps, TimePoint now, PendingReply& reply);

    /// Names of the queues whose watchers the driver must wake, without duplicates.
    [[nodiscard]] std::vector<std::string> take_woken();

    [[nodiscard]] bool has_work() const {
        return state_->writer.has_changes() || !waiting_.empty() || !full_rows_.empty();
    }

    /// Whether a row must be written at once: because a row is full, because a waiting reply is in
    /// a hurry (its submitter waits until the changes are on disk), or because many replies wait.
    /// Otherwise the row may wait for more changes.
    [[nodiscard]] bool hurried() const {
        return hurried_ || waiting_.size() >= unhurried_max || !full_rows_.empty();
    }

    /// Returns the oldest full row. If no row is full, closes the open row (the row that collects
    /// changes) and returns it. The driver must write the row, and pass it to `committed` or
    /// `failed`, before the next call.
    [[nodiscard]] JournalWriter::Row close_row();

    /// Reports that the row is on disk. Returns the replies to send.
    [[nodiscard]] std::vector<PendingReply> committed(const JournalWriter::Row& row);

    void reuse(std::vector<PendingReply> sent) noexcept;

    /// Reports that the row could not be written. The state in memory is then ahead of the disk, so
    /// the engine reads the state from the disk again. Returns the refusals to send.
    [[nodiscard]] std::vector<PendingReply> failed(const JournalWriter::Row& row,
                                                   const Error& error);

    /// Reports that memory ran out during a step, or while a row was closed. The partial changes of
    /// the step cannot be removed from the open row, so the row is dropped. The engine refuses
    /// steps until `heal` has read the state from the journal again.
    void out_of_memory() noexcept;

    /// Returns the replies to refuse because the open row was dropped. Must be called before
    /// `heal`.
    [[nodiscard]] std::vector<PendingReply> take_refused();

    /// Whether the engine refuses steps because the disk or memory failed.
    [[nodiscard]] bool failing() const noexcept { return failure_.has_value(); }

    /// Resumes after a failure if the probe succeeded and the journal can be read. True if the
    /// engine resumed. The driver must then wake all watchers, because the new state has no record
    /// of them.
    bool heal(const Result<void>& probed);

    /// For a full disk: refuses steps that add data, and limits the garbage of the journal to an
    /// eighth of the live data and `slack` bytes. `std::nullopt`: the disk has space again.
    void run_full(std::optional<std::uint64_t> slack);

private:
    static constexpr std::size_t unhurried_max = 64;
    static constexpr std::size_t spare_max = 8'192;  ///< Replies of about 300 bytes each.

    struct State {
        State(const EmbeddedStoreOptions& options, Journal& journal)
            : rows{journal},
              writer{options.slack_max, options.memory_max, rows},
              machine{writer,
                      {.queues_max = options.queues_max,
                       .timer_namespaces_max = options.timer_namespaces_max}} {}

        RowCache rows;
        JournalWriter writer;
        detail::Machine machine;
    };

    struct FullRow {
        JournalWriter::Row row;
        std::vector<PendingReply> replies{};
        std::uint64_t fence = 0;  ///< The newest fence when the row was closed.
    };

    struct Awaited {
        std::uint64_t row = 0;  ///< The newest row that the reply depends on.
        bool hurried = false;   ///< Whether the row must be written at once.
    };

    /// The error of a step that must be refused; nothing if the step may be performed. `bytes` is
    /// the size of the payload.
    [[nodiscard]] std::optional<Error> refusal(const Step& step, std::uint64_t bytes,
                                               std::uint64_t bytes_max);
    [[nodiscard]] bool memory_is_short_for(std::uint64_t bytes);
    Awaited perform(std::span<Step> steps, TimePoint now, detail::Outcomes& outcomes);
    void make_places();
    [[nodiscard]] std::vector<PendingReply>& waiters_for(std::uint64_t row);
    void end_full_row();
    void log_unread(const JournalWriter::Row& row) const;
    [[nodiscard]] std::vector<Lease> known_leases(const std::vector<Lease>& ended,
                                                  const std::vector<PendingReply>& refused) const;
    void refuse_with(const Error& error) noexcept;
    void fail_all(std::vector<PendingReply>& replies) const;
    [[nodiscard]] std::vector<Lease> leases_to_keep(const std::vector<Lease>& ended,
                                                    const std::vector<PendingReply>& refused) const;
    void reload(std::vector<Lease> leases);
    void reinstate(const Lease& lease);
    [[nodiscard]] Result<std::unique_ptr<State>> load();
    void log(LogLevel level, std::string_view text, std::string_view detail = {}) const;
    void log_error(std::string_view what, const Error& error) const;

    Journal& journal_;
    EmbeddedStoreOptions options_;
    detail::MemoryHeadroom headroom_;
    bool memory_short_ = false;
    std::optional<std::uint64_t> full_slack_;  // Set while the disk is full.
    std::unique_ptr<State> state_;
    std::deque<FullRow> full_rows_;        // Written before the open row, in this order.
    std::vector<PendingReply> waiting_;    // Replies that depend on the open row.
    std::vector<PendingReply> in_flight_;  // Replies that depend on the row being written.
    std::vector<PendingReply> spare_;      // Empty vector with capacity for reuse.
    std::uint64_t in_flight_row_ = 0;
    std::uint64_t committed_row_ = 0;
    // The newest fences when these rows were closed.
    std::uint64_t in_flight_fence_ = 0;
    std::uint64_t committed_fence_ = 0;
    std::uint64_t journal_bytes_ = 0;  // At the last call of `close_row`.
    std::optional<Error> failure_;
    bool hurried_ = false;      // A reply in `waiting_` is in a hurry.
    bool stale_ = false;        // The state must be read from the journal again.
    bool row_spoiled_ = false;  // The open row has a partial step and must be dropped.
    std::vector<Lease> kept_leases_;
    TimePoint last_now_{};
};

}  // namespace routemaster::embedded
