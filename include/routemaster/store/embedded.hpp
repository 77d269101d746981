/// @file
/// The store inside the process: the state in memory, its truth in one SQLite file.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// When a step counts as done.
enum class Durability {
    strict,   ///< When it is on disk: it survives a crash of the machine.
    relaxed,  ///< At once; on disk within 50 ms, which is what a crash may cost.
};

/// Settings of an `EmbeddedStore`.
struct EmbeddedStoreOptions {
    Durability durability = Durability::strict;
    /// The journal may grow to twice what is alive and this many bytes before the oldest entries
    /// are written again at its end and its head is freed.
    std::uint64_t slack_max = 24U << 20U;
    /// Bytes of jobs and messages that are kept in memory; 0: all of them. What is beyond it is
    /// read from the file when it is needed. Then a job takes at most 160 bytes of memory whatever
    /// its size, and a batch some 490 whatever its events: five for each of a hundred. Not let go
    /// of are batches that still take events, jobs that are under way, and what only the last
    /// commit wrote, so it may be exceeded for a while.
    std::uint64_t memory_max = 0;
    /// Bytes of the disk that are set aside beside the file, an eighth of the disk at most; 0 for
    /// none. When it is full otherwise, they are given back to it, so that what there is can be
    /// delivered and settled, which takes room, too. Until they can be set aside again, whatever
    /// would add to it answers `unavailable`.
    std::uint64_t reserve = 16U << 20U;
    /// Opens a file whose log is damaged or missing with what stands before the damage. What was
    /// acknowledged behind it is lost, but for a copy of the log, `FILE-wal.damaged`.
    bool accept_damage = false;
    Log log{};
};

/// What a backup holds.
struct EmbeddedBackup {
    std::uint64_t rows = 0;   ///< Of the journal.
    std::uint64_t bytes = 0;  ///< In these rows.
};

/// Keeps everything in memory and a journal of what each thing became in a file, whose format is
/// described in docs/file-format.md.
///
/// Steps of all threads that wait at the same time share one commit (group commit). In `strict`
/// nothing is answered before what the answer reveals is on disk. A full disk or an I/O error
/// answers `unavailable` for what could not be written, undoes it, loses nothing acknowledged, and
/// heals by itself when writing works again; until then all but listings is `unavailable`. So it
/// does, within a second, while the file or its log is not where it was opened. So it does, too,
/// when memory runs out in the middle of a step: that step, and all that was not on disk yet, is
/// undone and refused, and the state is read again from the journal.
/// Leases live as long as the process: after a restart, jobs that were PENDING are READY.
///
/// Thread safety: all members may be called from any thread. It has one thread of its own, which
/// commits, and on which most completions are called; see `Store::submit`.
class EmbeddedStore final : public Store {
public:
    /// Opens the file, or creates it. One process owns it at a time. Throws `Failure`:
    /// `unavailable` when it is in use or cannot be opened or written; `corrupted` when it is
    /// damaged; `invalid` when it is a folder, no file of ours, or of a newer format. An empty file
    /// is a new one. The text names the file.
    explicit EmbeddedStore(const std::filesystem::path& file, EmbeddedStoreOptions options = {});

    /// Finishes what was submitted, syncs, and closes the file.
    ~EmbeddedStore() override;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

    /// Copies the store to a new file, while it goes on: one moment of it, with all that was on
    /// disk when this was called. Returns when the copy is synced; before that there is nothing at
    /// `target` but, for a while, `TARGET.part` beside it. Commits do not wait for it, but the
    /// file may grow meanwhile by what they write.
    ///
    /// `invalid` when something is at `target`, or on the store's own thread; `unavailable` when
    /// it cannot be written, or another backup is under way; `corrupted` when a row cannot be
    /// read. Nothing is left behind then. Other processes ask for one by `backup_embedded_file`.
    [[nodiscard]] Result<EmbeddedBackup> backup(const std::filesystem::path& target);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
