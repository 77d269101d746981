/// @file
/// The disk as SQLite sees it. A test can make it fail, suspend its syncs, and look at what a loss
/// of power would leave.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace routemaster::test {

/// SQLite's interface of a file.
enum class DiskOperation { read, write, sync, truncate };

/// While one of these exists, all files that SQLite opens in this process go through it. One at a
/// time; it must outlive them.
///
/// Thread safety: all members may be called from any thread.
class Disk {
public:
    /// Installs itself.
    Disk();
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    ~Disk();

    // --- Faults ---------------------------------------------------------------------------------

    /// Lets the n-th write, sync or truncation from now on fail, counted from 1; a write that fails
    /// writes half, or nothing when it is small. With `for_good` all after it fail as well, until
    /// `heal`.
    void fail_changes(std::uint64_t nth, bool for_good);

    /// The same for reads.
    void fail_reads(std::uint64_t nth, bool for_good);

    /// Lets the n-th sync of a database from now on fail, counted from 1. As with any failed sync,
    /// its pages are lost unless they are written again.
    void fail_database_sync(std::uint64_t nth);

    /// Nothing fails any more.
    void heal();

    /// How many operations failed since the last call of a `fail_…`.
    [[nodiscard]] std::uint64_t failures() const;

    /// How many syncs were done.
    [[nodiscard]] std::uint64_t syncs() const;

    // --- Loss of power --------------------------------------------------------------------------

    /// Copies the synced contents of a database and of its log: what a loss of power leaves.
    void copy_synced(const std::filesystem::path& file, const std::filesystem::path& to) const;

private:
    friend class SuspendedSyncs;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Suspends the syncs of a disk for its own lifetime.
class SuspendedSyncs {
public:
    enum class Of {
        all,
        databases,  ///< But not of their logs.
    };

    explicit SuspendedSyncs(Disk& disk, Of which = Of::all);
    SuspendedSyncs(const SuspendedSyncs&) = delete;
    SuspendedSyncs& operator=(const SuspendedSyncs&) = delete;
    ~SuspendedSyncs() { release(); }

    /// Waits until a sync is suspended.
    void wait();

    /// Lets syncs continue.
    void release();

private:
    Disk::Impl& disk_;
};

}  // namespace routemaster::test
