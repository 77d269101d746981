/// @file
/// `Engine`: the embedded store without its thread, lock and clock.
///
///     submit ──► answered at once
///        └─ waits ──close_row──► (its driver writes the row) ──committed──► answered
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

/// A callback and the outcomes it is waiting for.
struct PendingReply {
    Completion done;
    detail::Outcomes outcomes;

    /// A callback that runs out of memory is dropped, with what it holds: nobody else can be told.
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
/// Its driver writes the rows: that takes long and needs no lock, so steps can be submitted
/// meanwhile. The driver reports the result, and no reply is sent before the rows it depends on are
/// written. Replies are returned, so that the driver sends them outside of its lock.
///
/// Not thread safe: its driver serialises.
class Engine {
public:
    /// Reads the journal, which must outlive it. Throws `Failure` when that cannot be done.
    Engine(Journal& journal, EmbeddedStoreOptions options);

    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Performs steps, and puts their outcomes into `reply`. True when the driver may send it at
    /// once; else the reply was moved from, and `committed` or `failed` returns it.
    [[nodiscard]] bool submit(std::span<Step> steps, TimePoint now, PendingReply& reply);

    /// Names of the queues whose watchers are to be woken, each once.
    [[nodiscard]] std::vector<std::string> take_woken();

    /// Whether there is a row to write.
    [[nodiscard]] bool has_work() const {
        return state_->writer.has_changes() || !waiting_.empty() || !full_rows_.empty();
    }

    /// Whether a row is to be written at once: because one is full, or because of a reply that is
    /// in a hurry, or of many that are not. Else it may wait for more changes.
    [[nodiscard]] bool hurried() const {
        return hurried_ || waiting_.size() >= unhurried_max || !full_rows_.empty();
    }

    /// The oldest row that is full; if none is, ends the one that changes go into. The driver must
    /// write it, and report it to `committed` or
    /// `failed`, before it closes the next one.
    [[nodiscard]] JournalWriter::Row close_row();

    /// The row is on disk. Returns the replies to send.
    [[nodiscard]] std::vector<PendingReply> committed(const JournalWriter::Row& row);

    /// Takes the memory of replies that were sent, for those to come.
    void reuse(std::vector<PendingReply> sent) noexcept;

    /// The row could not be written, so memory is ahead of the disk for good: the state is read
    /// again from the disk. Returns the refusals to send.
    [[nodiscard]] std::vector<PendingReply> failed(const JournalWriter::Row& row,
                                                   const Error& error);

    /// Memory ran out in the middle of a step, or while the row was closed. What the step changed
    /// so far cannot be separated from the rest of the open row, so none of that row is written:
    /// steps are refused until `heal` has made the state anew from the journal.
    void out_of_memory() noexcept;

    /// Whom to refuse because the open row is lost. To be called before `heal`.
    [[nodiscard]] std::vector<PendingReply> take_refused();

    /// Whether steps are refused because the disk or memory failed.
    [[nodiscard]] bool failing() const noexcept { return failure_.has_value(); }

    /// Resumes after a failure when the probe succeeded and the journal can be read. True when it
    /// did; the driver must wake all watchers then, as the new state knows of none.
    bool heal(const Result<void>& probed);

    /// The disk is full: refuses steps that add data, and keeps the journal within `slack` bytes of
    /// the live data. `std::nullopt`: there is space again.
    void run_full(std::optional<std::uint64_t> slack);

private:
    static constexpr std::size_t unhurried_max = 64;
    static constexpr std::size_t spare_max = 8'192;  ///< Replies, of some 300 bytes.

    /// The state, and the writer that follows it.
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

    /// A row that took no more, and the replies that depend on it.
    struct FullRow {
        JournalWriter::Row row;
        std::vector<PendingReply> replies{};
        std::uint64_t fence = 0;  ///< Of the newest lease as the row ended.
    };

    /// What a reply waits for.
    struct Awaited {
        std::uint64_t row = 0;  ///< The newest that its outcomes depend on.
        bool hurried = false;   ///< Whether that is to be written at once.
    };

    /// Why a step that has so many bytes of payload is not performed; none when it is.
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
    std::optional<std::uint64_t> full_slack_;  // While the disk is full.
    std::unique_ptr<State> state_;
    std::deque<FullRow> full_rows_;        // To be written before the open one, in this order.
    std::vector<PendingReply> waiting_;    // Depend on the open row.
    std::vector<PendingReply> in_flight_;  // Depend on the row that is being written.
    std::vector<PendingReply> spare_;      // Empty: for those that will be.
    std::uint64_t in_flight_row_ = 0;
    std::uint64_t committed_row_ = 0;
    // Of the newest lease as these rows ended.
    std::uint64_t in_flight_fence_ = 0;
    std::uint64_t committed_fence_ = 0;
    std::uint64_t journal_bytes_ = 0;  // As of the last row that the driver took.
    std::optional<Error> failure_;
    bool hurried_ = false;      // One of those that wait for the open row is in a hurry.
    bool stale_ = false;        // The state must be read again.
    bool row_spoiled_ = false;  // The open row contains a part of a step: it must not be written.
    std::vector<Lease> kept_leases_;
    TimePoint last_now_{};
};

}  // namespace routemaster::embedded
