/// @file
/// Encodes the changes of each entity into the row that will be committed next.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "change_kind.hpp"
#include "core/codec/msgpack_writer.hpp"
#include "core/containers/intrusive_list.hpp"
#include "core/state/machine.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/error.hpp"
#include "row_cache.hpp"

namespace routemaster::embedded {

/// Collects the changes of the open row, and knows how old each entity's last record is.
///
/// Entities are on a list, ordered by the oldest row they need. When the journal has outgrown the
/// live data, the oldest are encoded again in the open row, so that the head of the journal can be
/// forgotten: no snapshot, no pause, no second copy of the state. Not thread safe.
class JournalWriter final : public detail::ChangeLog {
public:
    /// `slack_max` and `memory_max` as in `EmbeddedStoreOptions`. Reads written rows again through
    /// `rows`, which must outlive it.
    JournalWriter(std::uint64_t slack_max, std::uint64_t memory_max, RowCache& rows);

    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    /// A row that is ready to be written.
    struct Row {
        std::uint64_t number = 0;
        std::string changes;
        std::uint64_t needed = 0;       ///< No row before this one is needed once it is written.
        bool needs_compaction = false;  ///< The journal has outgrown the live data.
        std::vector<Lease> ended;       ///< Leases that ended in it: see `JournalWriter::ended`.
        std::optional<Error> unread{};  ///< Why an old entity could not be moved, if one could not.
    };

    /// The row that changes go into now.
    [[nodiscard]] std::uint64_t open_row() const noexcept { return open_row_; }
    /// Whether the open row has any changes.
    [[nodiscard]] bool has_changes() const noexcept { return !buffer_.empty() || !dirty_.empty(); }

    /// Bytes of the open row so far, without the counters that changed.
    [[nodiscard]] std::size_t open_bytes() const noexcept { return buffer_.size(); }

    /// From now on the journal may exceed the live data by so many bytes only, for a disk that is
    /// full; `std::nullopt` restores the usual bound.
    void keep_small(std::optional<std::uint64_t> slack) { small_slack_ = slack; }

    /// Leases that ended in the open row, with what `JobTable::reinstate` reads: most end without a
    /// failure, so a job that has an id is not copied.
    [[nodiscard]] const std::vector<Lease>& ended() const noexcept { return ended_; }

    /// Total of bytes encoded, which grows with every change.
    [[nodiscard]] std::uint64_t encoded() const noexcept { return encoded_; }

    /// Encodes the counters that changed, moves the oldest entities, and opens the next row.
    /// `journal_bytes` is the size of all rows written so far.
    [[nodiscard]] Row close_row(std::uint64_t journal_bytes);

    /// Evicts payloads in rows up to `committed`, which are on disk, while the resident ones exceed
    /// the budget: the newest first, which are needed last, and none that is needed now. Looks at
    /// each row once.
    void evict(std::uint64_t committed);

    /// Bytes of jobs and messages that are resident.
    [[nodiscard]] std::uint64_t resident() const noexcept { return resident_; }
    /// Messages were restored or forgotten. For replaying.
    void resident_changed(std::int64_t bytes) { resident_ += static_cast<std::uint64_t>(bytes); }

    /// Records that an entity is in `row`, and takes about `bytes` more. For replaying.
    void restored(detail::Entity& entity, std::uint64_t row, std::size_t bytes, bool full_record);
    /// Forgets an entity. For replaying.
    void unrestored(detail::Entity& entity);
    /// Changes go into `row` from now on. For replaying.
    void open(std::uint64_t row) { open_row_ = row; }

    void changed(detail::Entity& entity) override { encode(entity); }
    void changed(detail::JobState& job) override;
    void attempted(detail::JobState& job) override;
    void waits(detail::JobState& job) override;
    void lease_ended(const detail::JobState& job) override;
    void changed(detail::BatchState& batch) override;
    void died(detail::BatchState& batch) override;
    void redelivered(detail::BatchState& batch) override;
    void changed(detail::StoredTimer& timer) override;
    void moved(detail::StoredTimer& timer) override;
    void appended(std::string_view message, std::span<detail::BatchState* const> batches) override;
    void counted(detail::Entity& entity) override { mark_dirty(entity); }
    void gone(detail::Entity& entity) override;
    void gone(detail::JobState& job) override;
    void gone(detail::BatchState& batch) override;
    void gone(detail::StoredTimer& timer) override;
    void skipped(detail::OrderingGroup& group) override { group.skipped_row = open_row_; }
    bool same(const detail::JobState& job, std::string_view bytes) override;
    std::string read(const detail::JobState& job) override;
    void load(detail::JobState& job) override;
    MessageList read(const detail::BatchState& batch) override;

private:
    void begin(std::uint8_t number, std::size_t fields);
    void begin(ChangeKind kind, std::size_t fields) {
        begin(static_cast<std::uint8_t>(kind), fields);
    }
    void mark_dirty(detail::Entity& entity);
    void encode(detail::Entity& entity);
    /// Of an entity that has a name.
    template <class State>
        requires requires { State::record; }
    void encode(const State& state);
    void encode(detail::JobState& job);
    void encode_details(const detail::JobState& job, bool all);
    void encode_further(const detail::JobState& job, std::size_t entries);
    void encode_ids(const std::vector<JobId>& ids);
    void encode(detail::BatchState& batch);
    void encode_death(const detail::BatchState& batch);
    [[nodiscard]] bool leaves_memory(const detail::BatchState& batch) const;
    void encode(const detail::CounterState& counter);
    void encode(const detail::StoredTimer& timer);
    /// Encodes the full record of an entity, and records where it is.
    template <class State>
    void note(State& state);
    [[nodiscard]] std::size_t allowance(std::uint64_t journal_bytes, std::uint64_t bound) const;
    [[nodiscard]] std::optional<Error> move_oldest(std::size_t bytes);
    void make_resident(detail::Entity& entity);
    void evict(detail::Entity& entity);
    [[nodiscard]] bool over_budget() const noexcept {
        return memory_max_ != 0 && resident_ > memory_max_;
    }

    std::uint64_t slack_max_;
    std::optional<std::uint64_t> small_slack_;
    std::uint64_t memory_max_;
    RowCache& rows_;
    std::uint64_t resident_ = 0;
    std::uint64_t evicted_row_ = 0;  ///< Rows up to this one were looked at.
    std::uint64_t open_row_ = 1;
    std::uint64_t live_bytes_ = 0;
    std::uint64_t encoded_ = 0;
    std::string buffer_;
    detail::StringStream stream_{buffer_};
    detail::MsgpackWriter<detail::StringStream> out_{stream_};
    std::vector<detail::Entity*> dirty_;
    std::vector<Lease> ended_;
    detail::IntrusiveList<detail::Entity, &detail::Entity::age> by_age_;
};

}  // namespace routemaster::embedded
