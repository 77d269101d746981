/// @file
/// The disk as SQLite sees it. A test can make it fail, hold back its syncs, and ask what a loss
/// of power would leave.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace routemaster::test {

/// What SQLite asks of a file.
enum class DiskOperation { read, write, sync, truncate };

/// While one of these lives, all files that SQLite opens in this process go through it. One at a
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

    /// Lets the n-th write, sync or truncation from now on fail, counted from 1; a write that
    /// fails is done by half, or not at all when it is small. With `for_good` all after it fail as
    /// well, until `heal`.
    void fail_changes(std::uint64_t nth, bool for_good);

    /// The same for reads.
    void fail_reads(std::uint64_t nth, bool for_good);

    /// Lets the n-th sync of a database from now on fail, counted from 1. As with any that fails,
    /// what it was to write is lost unless it is written again.
    void fail_database_sync(std::uint64_t nth);

    /// Nothing fails any more.
    void heal();

    /// How many operations failed since the last call of a `fail_…`.
    [[nodiscard]] std::uint64_t failures() const;

    /// How many syncs were done.
    [[nodiscard]] std::uint64_t syncs() const;

    // --- Loss of power --------------------------------------------------------------------------

    /// Copies what was synced of a database and of its log: what is left after a loss of power.
    void copy_synced(const std::filesystem::path& file, const std::filesystem::path& to) const;

private:
    friend class HeldSyncs;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Holds back the syncs of a disk for as long as it lives.
class HeldSyncs {
public:
    enum class Of {
        all,
        databases,  ///< But not of their logs.
    };

    explicit HeldSyncs(Disk& disk, Of which = Of::all);
    HeldSyncs(const HeldSyncs&) = delete;
    HeldSyncs& operator=(const HeldSyncs&) = delete;
    ~HeldSyncs() { release(); }

    /// Waits until a sync is held back.
    void wait();

    /// Lets syncs go on.
    void release();

private:
    Disk::Impl& disk_;
};

}  // namespace routemaster::test
