/// @file
/// `JournalWriter`: encodes changes of entities into the journal row that is committed next.

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

/// Encoder of the open row, which also tracks in which row each entity was last recorded.
///
/// A record describes a change of an entity. A *full record* has the whole state of the entity. The
/// writer has a list of all entities, sorted by the oldest row needed to restore each. When the
/// journal has become too large for the live data, the writer *moves* the oldest entities: new full
/// records of these entities are written into the open row, and the oldest rows can be deleted.
/// This compaction needs no snapshot, no pause and no second copy of the state.
///
/// Not thread safe.
class JournalWriter final : public detail::ChangeLog {
public:
    /// `slack_max` and `memory_max` are those of `EmbeddedStoreOptions`. Evicted payloads are read
    /// through `rows`, which must outlive the writer.
    JournalWriter(std::uint64_t slack_max, std::uint64_t memory_max, RowCache& rows);

    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    struct Row {
        std::uint64_t number = 0;
        std::string changes;
        std::uint64_t needed = 0;       ///< The oldest row that is needed once this row is written.
        bool needs_compaction = false;  ///< The journal is too large for the live data.
        std::vector<Lease> ended;
        std::optional<Error> unread{};  ///< The error if an old entity could not be moved.
    };

    [[nodiscard]] std::uint64_t open_row() const noexcept { return open_row_; }
    [[nodiscard]] bool has_changes() const noexcept { return !buffer_.empty() || !dirty_.empty(); }

    /// Bytes of the open row so far, without entities marked as dirty.
    [[nodiscard]] std::size_t open_bytes() const noexcept { return buffer_.size(); }

    /// Limits the garbage of the journal to an eighth of the live data plus `slack` bytes, for a
    /// full disk. `std::nullopt` restores the usual limit.
    void keep_small(std::optional<std::uint64_t> slack) { small_slack_ = slack; }

    /// Leases that ended in the open row, with the fields needed by `JobTable::reinstate`. For jobs
    /// with ids, the payload is omitted to save a copy, because reinstating is rare.
    [[nodiscard]] const std::vector<Lease>& ended() const noexcept { return ended_; }

    /// A counter that grows with every change.
    [[nodiscard]] std::uint64_t encoded() const noexcept { return encoded_; }

    /// Encodes dirty entities, moves old entities, closes the row and opens the next.
    /// `journal_bytes` is the size of all rows written so far.
    [[nodiscard]] Row close_row(std::uint64_t journal_bytes);

    /// Evicts payloads from memory until the resident payloads fit into the memory budget. Only
    /// payloads in rows up to `committed` can be evicted, because these rows are on disk. The
    /// newest payloads are evicted first, because they will be needed last. Payloads in use are not
    /// evicted. Each row is examined once.
    void evict(std::uint64_t committed);

    /// Bytes of jobs and messages in memory.
    [[nodiscard]] std::uint64_t resident() const noexcept { return resident_; }
    /// Adds `bytes` to the count of resident bytes. Called while a journal is read.
    void resident_changed(std::int64_t bytes) { resident_ += static_cast<std::uint64_t>(bytes); }

    /// Records that `row` contains a record of the entity, of about `bytes` bytes. Called while a
    /// journal is read.
    void restored(detail::Entity& entity, std::uint64_t row, std::size_t bytes, bool full_record);
    void unrestored(detail::Entity& entity);
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
    /// Encodes a full record of an entity, and moves the entity to the end of the list.
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
    std::uint64_t evicted_row_ = 0;  ///< All rows up to this row were examined for eviction.
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
