/// @file
/// `Disk`: the disk as seen by SQLite. A test can make the disk fail, suspend its syncs, and read
/// the data left by a power loss.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace routemaster::test {

/// Operations of SQLite's file interface.
enum class DiskOperation { read, write, sync, truncate };

/// As long as this object exists, all files of SQLite in this process are on this disk. Only one
/// disk may exist, and must outlive the files.
///
/// Thread safety: all members may be called from any thread.
class Disk {
public:
    /// Registers itself with SQLite.
    Disk();
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    ~Disk();

    /// Makes the n-th write, sync or truncation from now on fail, counted from 1. A failing write
    /// writes half of its data, or nothing if it is small. With `for_good` all later operations
    /// fail too, until `heal`.
    void fail_changes(std::uint64_t nth, bool for_good);

    /// As `fail_changes`, for reads.
    void fail_reads(std::uint64_t nth, bool for_good);

    /// Makes the n-th sync of a database from now on fail, counted from 1. As with any failed sync,
    /// its pages are lost unless they are written again.
    void fail_database_sync(std::uint64_t nth);

    /// Ends all failures.
    void heal();

    /// The number of operations that failed since the last call of a `fail_…` function.
    [[nodiscard]] std::uint64_t failures() const;

    /// The number of successful syncs.
    [[nodiscard]] std::uint64_t syncs() const;

    /// Copies the synced contents of a database and its log, as a power loss would leave them.
    void copy_synced(const std::filesystem::path& file, const std::filesystem::path& to) const;

private:
    friend class SuspendedSyncs;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Suspends the syncs of a disk as long as this object exists.
class SuspendedSyncs {
public:
    enum class Of {
        all,
        databases,  ///< Database files, but not their logs.
    };

    explicit SuspendedSyncs(Disk& disk, Of which = Of::all);
    SuspendedSyncs(const SuspendedSyncs&) = delete;
    SuspendedSyncs& operator=(const SuspendedSyncs&) = delete;
    ~SuspendedSyncs() { release(); }

    /// Waits until a sync is suspended.
    void wait();

    /// Lets suspended syncs continue.
    void release();

private:
    Disk::Impl& disk_;
};

}  // namespace routemaster::test
