/// @file
/// `Engine`: the logic of the embedded store, without thread, lock and clock.
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
#include "routemaster/store.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::embedded {

/// A submission whose reply is not sent yet: its callback and the outcomes of its steps.
struct PendingReply {
    Completion done;
    detail::Outcomes outcomes;

    /// Calls the callback. If the callback runs out of memory, the exception is ignored, because
    /// nothing else can report it.
    void send() {
        try {
            done(outcomes.all());
        } catch (const std::bad_alloc&) {
            done = nullptr;
        }
    }
};

/// Scheduler of rows and replies. Performs steps in memory, decides which rows to write, and when
/// to send each reply.
///
/// The owner of an engine is called its *driver*. The driver writes the rows. Writing is slow and
/// needs no lock, so other threads can submit steps meanwhile. The driver reports whether the row
/// was written. Replies are sent only after the rows with their changes were written. The engine
/// returns these replies, and the driver sends them after releasing its lock.
///
/// Not thread safe: the driver serialises calls.
class Engine {
public:
    /// Reads the journal, which must outlive the engine. Throws `Failure` on error.
    Engine(Journal& journal, EmbeddedStoreOptions options);

    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Performs steps and stores their outcomes in `reply`. True if the driver may send `reply` at
    /// once. Otherwise the engine has moved from `reply`, and returns it later from `committed`,
    /// `failed` or `take_refused`.
    [[nodiscard]] bool submit(std::span<Step> steps, TimePoint now, PendingReply& reply);

    /// Names of the queues whose watchers the driver must wake, without duplicates.
    [[nodiscard]] std::vector<std::string> take_woken();

    [[nodiscard]] bool has_work() const {
        return state_->writer.has_changes() || !waiting_.empty() || !full_rows_.empty();
    }

    /// Whether a row must be written at once: because a row is full, because many replies wait, or
    /// because a waiting reply is urgent, which means that its caller waits until the changes are
    /// on disk. Otherwise the row may wait for more changes.
    [[nodiscard]] bool hurried() const {
        return hurried_ || waiting_.size() >= unhurried_max || !full_rows_.empty();
    }

    /// Returns the next row to write: the oldest full row or else the open row, which is closed.
    /// The open row collects changes. The driver must write the row, and then call `committed` or
    /// `failed`, before the next call.
    [[nodiscard]] JournalWriter::Row close_row();

    /// Must be called when the row is on disk. Returns the replies to send.
    [[nodiscard]] std::vector<PendingReply> committed(const JournalWriter::Row& row);

    void reuse(std::vector<PendingReply> sent) noexcept;

    /// Must be called when the row could not be written. The state in memory then contains changes
    /// that are not on disk, so the engine reads the state from the disk again. Returns the error
    /// replies to send.
    [[nodiscard]] std::vector<PendingReply> failed(const JournalWriter::Row& row,
                                                   const Error& error);

    /// Must be called when memory was exhausted during a step, or while a row was closed. The
    /// partial changes of the step cannot be removed from the open row, so this row is discarded.
    /// The engine rejects steps until `heal` has read the state from the journal again.
    void out_of_memory() noexcept;

    /// Returns the error replies for the steps of the discarded row. Must be called before `heal`.
    [[nodiscard]] std::vector<PendingReply> take_refused();

    /// Whether the engine rejects steps because the disk or a memory allocation failed.
    [[nodiscard]] bool failing() const noexcept { return failure_.has_value(); }

    /// Tries to resume after a failure, if `probed` is a success and the journal can be read. True
    /// on success. The driver must then wake all watchers, because the new state does not know
    /// which of them wait.
    bool heal(const Result<void>& probed);

    /// Switches to operation on a full disk: rejects steps that add data, and limits the garbage of
    /// the journal to an eighth of the live data plus `slack` bytes. `std::nullopt` switches back.
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
        std::uint64_t fence = 0;  ///< The newest fence (lease number) when the row was closed.
    };

    struct Awaited {
        std::uint64_t row = 0;  ///< The newest row on which the reply depends.
        bool hurried = false;   ///< Whether the row must be written at once.
    };

    /// The error if a step must be rejected; otherwise nothing. `bytes` is the size of the payload.
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
    std::optional<std::uint64_t> full_slack_;  // Present while the disk is full.
    std::unique_ptr<State> state_;
    std::deque<FullRow> full_rows_;        // To be written before the open row, in order.
    std::vector<PendingReply> waiting_;    // Replies that depend on the open row.
    std::vector<PendingReply> in_flight_;  // Replies that depend on the row being written.
    std::vector<PendingReply> spare_;      // Empty vector with capacity for reuse.
    std::uint64_t in_flight_row_ = 0;
    std::uint64_t committed_row_ = 0;
    // The newest fence in the row being written, and in the rows that are on disk.
    std::uint64_t in_flight_fence_ = 0;
    std::uint64_t committed_fence_ = 0;
    std::uint64_t journal_bytes_ = 0;  // Size of the journal at the last call of `close_row`.
    std::optional<Error> failure_;
    bool hurried_ = false;      // Whether a reply in `waiting_` is urgent.
    bool stale_ = false;        // The state must be read again from the journal.
    bool row_spoiled_ = false;  // The open row contains a partial step and must be discarded.
    std::vector<Lease> kept_leases_;
    TimePoint last_now_{};
};

}  // namespace routemaster::embedded
