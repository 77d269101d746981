/// @file
/// `EmbeddedStore`: a store inside the process, with its state in memory and a journal in an SQLite
/// database file.

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

/// When the store replies to a step.
enum class Durability {
    strict,   ///< When the step is on disk, so that it survives a crash of the machine.
    relaxed,  ///< At once. The step is on disk within 50 ms; a crash may lose it until then.
};

/// Settings of an `EmbeddedStore`.
struct EmbeddedStoreOptions {
    Durability durability = Durability::strict;
    /// Garbage collection: if the journal exceeds twice the live data and this many bytes, its
    /// oldest live entries are copied to its end, and the space at its beginning is freed.
    std::uint64_t slack_max = 24U << 20U;
    /// Maximum bytes of jobs and messages in memory; 0: unlimited. Jobs and messages beyond the
    /// limit are read from the file when they are needed. With a limit, each job in the file uses
    /// at most 160 bytes of memory, whatever its size, and each batch in the file some 490 bytes,
    /// whatever its events (with 100 events: 5 bytes per event). Batches that still collect events,
    /// leased jobs, and data written by the last commit always stay in memory, and may exceed the
    /// limit temporarily.
    std::uint64_t memory_max = 0;
    /// Bytes of disk space to reserve beside the file, at most an eighth of the disk; 0: none. If
    /// the disk is full, the store frees the reserve, because delivering and settling existing
    /// batches and jobs needs space, too. Until the space is reserved again, steps that add data
    /// return `unavailable`.
    std::uint64_t reserve = 16U << 20U;
    /// Bytes of memory to leave free, at most an eighth of the lowest memory limit of the process:
    /// of its address space or data (`ulimit`), or of its cgroup. With less free memory, steps that
    /// add data return `unavailable`, and existing batches and jobs are still delivered. 0: none;
    /// memory may then run out during a step. This may also happen if the reserve is used up.
    std::uint64_t memory_reserve = 64U << 20U;
    /// Maximum number of queues that have jobs, are paused or have rate limits. A step that adds
    /// another queue fails with `limit_exceeded`. Each queue uses about 1 KB of memory.
    std::uint32_t queues_max = 100'000;
    /// Maximum number of namespaces with timers. Another namespace fails with `limit_exceeded`.
    std::uint32_t timer_namespaces_max = 100'000;
    /// Maximum bytes of payload that one call of `submit` may write into one row of the journal, at
    /// most 256 MiB, because SQLite allows no row of more than 10^9 bytes. Further steps go into
    /// the next row. A single larger step is `invalid`. When a row has reached 8 MiB, the next call
    /// of `submit` begins a new row.
    std::uint64_t row_bytes_max = 256U << 20U;
    /// Whether to open a file with a damaged or missing write-ahead log of SQLite. The store then
    /// contains the rows before the damage. Rows after the damage are lost, even if acknowledged.
    /// The log is copied to `FILE-wal.damaged`.
    bool accept_damage = false;
    Log log{};
};

/// The size of a backup.
struct EmbeddedBackup {
    std::uint64_t rows = 0;   ///< Rows of the journal.
    std::uint64_t bytes = 0;  ///< Bytes in these rows.
};

/// Store with all data in memory, and a journal of all changes in an SQLite file, in the format of
/// docs/file-format.md. SQLite caches the pages written last, up to 2 MB. The first changes of a
/// process therefore use this memory, regardless of the amount of data.
///
/// **Commits.** Steps that wait at the same time share one commit (group commit). With
/// `Durability::strict`, the outcome of a step is reported when all data that it depends on are on
/// disk.
///
/// **Errors.** After a full disk or an I/O error, steps that could not be written are undone and
/// return `unavailable`. No acknowledged step is lost. Until writing works again, all steps except
/// lists return `unavailable`; the store recovers by itself. If the file or its log was moved or
/// removed, steps are rejected in the same way, within a second. A limit of file sizes (`ulimit
/// -f`) counts as a full disk if the program ignores SIGXFSZ; otherwise the signal kills the
/// program. If memory runs out during a step, the store undoes and rejects this step and all steps
/// not yet on disk, and restores its state from the journal.
///
/// **Restarts.** Leases end with the process: after a restart, PENDING jobs are READY again.
///
/// Thread safety: all members may be called from any thread. The store has one thread, which
/// commits, and calls most completions; see `Store::submit`.
class EmbeddedStore final : public Store {
public:
    /// Opens the file, or creates it. Only one process may have the file open. Throws `Failure`:
    /// `unavailable` if the file is in use, or cannot be opened or written; `corrupted` if it is
    /// damaged; `invalid` if it is a folder, not a routemaster file, or has a newer format. An
    /// empty file counts as new. The error text names the file.
    explicit EmbeddedStore(const std::filesystem::path& file, EmbeddedStoreOptions options = {});

    /// Finishes submitted steps, syncs, and closes the file.
    ~EmbeddedStore() override;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

    /// Copies the store to a new file, while the store continues to run. The copy contains all data
    /// that are on disk at the time of this call. Returns when the copy is synced. Until then, the
    /// copy is named `TARGET.part`, and `target` does not exist. Commits do not wait for the
    /// backup, but during the backup the file may grow by the data that they write.
    ///
    /// `invalid` if `target` exists, or if called on the store's thread; `unavailable` if the copy
    /// cannot be written, or if another backup is running; `corrupted` if a row cannot be read.
    /// After an error no copy is left. From other processes, use `backup_embedded_file`.
    [[nodiscard]] Result<EmbeddedBackup> backup(const std::filesystem::path& target);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
