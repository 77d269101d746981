/// @file
/// The store inside the process: the state in memory, backed by one SQLite file.

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

/// When a step is acknowledged.
enum class Durability {
    strict,   ///< When it is on disk: it survives a crash of the machine.
    relaxed,  ///< At once; on disk within 50 ms, which is what a crash may cost.
};

/// Settings of an `EmbeddedStore`.
struct EmbeddedStoreOptions {
    Durability durability = Durability::strict;
    /// Beyond twice the live data and this many bytes, the oldest entries of the journal are
    /// written again at its end and its head is freed.
    std::uint64_t slack_max = 24U << 20U;
    /// Bytes of jobs and messages kept in memory; 0: all of them. Those beyond it are read from the
    /// file when needed. Then a job takes at most 160 bytes of memory whatever its size, and a
    /// batch some 490 whatever its events: five for each of a hundred. Batches that still take
    /// events, jobs that are under way, and what only the last commit wrote stay in memory, so the
    /// budget may be exceeded for a while.
    std::uint64_t memory_max = 0;
    /// Bytes of the disk set aside beside the file, an eighth of the disk at most; 0 for none. When
    /// the disk is full otherwise, the store releases them, so that existing batches and jobs can
    /// be delivered and settled, which takes space, too. Until it can set them aside again, it
    /// answers steps that add data with `unavailable`.
    std::uint64_t reserve = 16U << 20U;
    /// Bytes of memory kept free, an eighth of the lowest limit of the process at most: of its
    /// address space or data (`ulimit`), or of its cgroup. When less is left, the store answers
    /// steps that add data with `unavailable`, so that existing batches and jobs are delivered. 0
    /// for none; then, and beyond it, memory may run out in the middle of a step.
    std::uint64_t memory_reserve = 64U << 20U;
    /// Queues that have jobs, are paused or have rate limits: a step that would begin one more is
    /// refused as `limit_exceeded`. Each takes about a kilobyte of memory.
    std::uint32_t queues_max = 100'000;
    /// Namespaces that have timers, bounded likewise.
    std::uint32_t timer_namespaces_max = 100'000;
    /// Bytes of payload that one submission brings into one row of the journal at most, up to 256
    /// MiB: SQLite takes no row of more than 10^9 bytes. Steps beyond it go into the next row, and
    /// one that has more by itself is `invalid`. A row of 8 MiB takes no further submission.
    std::uint64_t row_bytes_max = 256U << 20U;
    /// Opens a file whose log is damaged or missing with the rows before the damage. Rows behind it
    /// are lost, even if acknowledged, but for a copy of the log, `FILE-wal.damaged`.
    bool accept_damage = false;
    Log log{};
};

/// The size of a backup.
struct EmbeddedBackup {
    std::uint64_t rows = 0;   ///< Of the journal.
    std::uint64_t bytes = 0;  ///< In these rows.
};

/// Keeps everything in memory, and a journal of all changes in a file, whose format is described in
/// docs/file-format.md. SQLite keeps the pages that it wrote last in memory, up to 2 MB: so much a
/// process grows by its first changes, however few things there are.
///
/// Steps of all threads that wait at the same time share one commit (group commit). In `strict`, an
/// outcome is reported when everything it depends on is on disk. After a full disk or an I/O error,
/// steps that could not be written are undone and return `unavailable`; nothing acknowledged is
/// lost. The store heals by itself when writing works again; until then all steps but listings
/// return `unavailable`. They also do, within a second, when the file or its log was moved or
/// removed. A limit of file sizes (`ulimit -f`) counts as a full disk, if the program ignores
/// SIGXFSZ, which else ends it. When memory runs out in the middle of a step, the store undoes and
/// refuses that step and all that were not on disk yet, and reads its state again from the journal.
/// Leases live as long as the process: after a restart, jobs that were PENDING are READY.
///
/// Thread safety: all members may be called from any thread. It has one thread of its own, which
/// commits, and on which most completions are called; see `Store::submit`.
class EmbeddedStore final : public Store {
public:
    /// Opens the file, or creates it. One process owns it at a time. Throws `Failure`:
    /// `unavailable` when it is in use or cannot be opened or written; `corrupted` when it is
    /// damaged; `invalid` when it is a folder, not a routemaster file, or of a newer format. An
    /// empty file counts as new. The text names the file.
    explicit EmbeddedStore(const std::filesystem::path& file, EmbeddedStoreOptions options = {});

    /// Finishes submitted steps, syncs, and closes the file.
    ~EmbeddedStore() override;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

    /// Copies the store to a new file while it continues to run: a snapshot with all that was on
    /// disk when this was called. Returns when the copy is synced; until then there is nothing at
    /// `target`, and `TARGET.part` beside it while copying. Commits do not wait for it, but the
    /// file may grow by what they write.
    ///
    /// `invalid` when something is at `target`, or on the store's own thread; `unavailable` when it
    /// cannot be written, or another backup is under way; `corrupted` when a row cannot be read. An
    /// error leaves nothing behind. Other processes use `backup_embedded_file`.
    [[nodiscard]] Result<EmbeddedBackup> backup(const std::filesystem::path& target);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
