#include "disk.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace routemaster::test {
namespace {

/// The unit that a disk writes atomically.
constexpr int sector_bytes = 512;

/// Offsets and sizes.
using Writes = std::vector<std::pair<std::size_t, std::size_t>>;

/// The contents of a file, as written and as last synced.
struct Image {
    std::string written;
    std::string synced;
    Writes unsynced;

    void write(std::size_t offset, std::string_view bytes) {
        if (written.size() < offset + bytes.size()) written.resize(offset + bytes.size());
        written.replace(offset, bytes.size(), bytes);
        unsynced.emplace_back(offset, bytes.size());
    }
    /// Records a finished sync. `begun` are the unsynced writes at its begin.
    void sync(const Writes& begun) {
        synced.resize(written.size());
        for (const auto& [offset, size] : begun) {
            if (offset >= written.size()) continue;
            const auto rest = std::min(size, written.size() - offset);
            synced.replace(offset, rest, written, offset, rest);
        }
    }
};

/// The operations that fail.
struct Plan {
    std::uint64_t countdown = 0;  // 0 for none.
    bool for_good = false;
    bool failing = false;

    /// Counts one operation. Returns whether it fails.
    bool fails() {
        if (failing) return true;
        if (countdown == 0 || --countdown > 0) return false;
        failing = for_good;
        return true;
    }
};

}  // namespace

struct Disk::Impl {
    Impl() {
        // Has the name of the VFS that stores use, and is found first.
        usual = sqlite3_vfs_find(nullptr);
        real = sqlite3_vfs_find("unix-excl");
        // The files of this VFS must not be larger than the real ones, because stores query the
        // size only once for all disks.
        own = *real;
        if (sizeof(File) > static_cast<std::size_t>(own.szOsFile)) {
            throw std::runtime_error{"no space"};
        }
        own.pAppData = this;
        own.xOpen = open;
        own.xDelete = remove;
        own.xAccess = [](sqlite3_vfs* vfs, const char* name, int flags, int* out) {
            auto* next = of(vfs).real;
            return next->xAccess(next, name, flags, out);
        };
        own.xFullPathname = [](sqlite3_vfs* vfs, const char* name, int size, char* out) {
            auto* next = of(vfs).real;
            return next->xFullPathname(next, name, size, out);
        };
        if (sqlite3_vfs_register(&own, 1) != SQLITE_OK) throw std::runtime_error{"no disk"};
    }

    ~Impl() {
        sqlite3_vfs_unregister(&own);
        sqlite3_vfs_register(usual, 1);
    }

    /// An open file, in memory allocated by SQLite.
    struct File {
        sqlite3_file base;
        Impl* disk;
        Image* image;  // Null for temporary files.
        bool log;
        std::unique_ptr<std::max_align_t[]> real;

        [[nodiscard]] sqlite3_file* next() { return reinterpret_cast<sqlite3_file*>(real.get()); }
    };
    static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
    static Impl& of(sqlite3_vfs* vfs) { return *static_cast<Impl*>(vfs->pAppData); }

    static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
        auto& disk = of(vfs);
        const auto size = static_cast<std::size_t>(disk.real->szOsFile) / sizeof(std::max_align_t);
        auto& opened = *new (file) File{{},
                                        &disk,
                                        nullptr,
                                        (flags & SQLITE_OPEN_WAL) != 0,
                                        std::make_unique<std::max_align_t[]>(size + 1)};
        const int code = disk.real->xOpen(disk.real, name, opened.next(), flags, out);
        if (code != SQLITE_OK) {
            std::destroy_at(&opened);
            return code;
        }
        opened.base.pMethods = &methods;
        if (name == nullptr) return code;
        const std::lock_guard lock{disk.mutex};
        const auto [place, fresh] = disk.images.try_emplace(name);
        opened.image = &place->second;
        if (fresh) {
            // The existing contents count as synced. They are read through this file: opening and
            // closing another descriptor would release the locks of this process on the file.
            place->second.written = content_of(opened.next());
            place->second.synced = place->second.written;
        }
        return code;
    }

    static std::string content_of(sqlite3_file* file) {
        sqlite3_int64 size = 0;
        file->pMethods->xFileSize(file, &size);
        std::string content(static_cast<std::size_t>(size), '\0');
        if (size > 0) file->pMethods->xRead(file, content.data(), static_cast<int>(size), 0);
        return content;
    }

    static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
        auto& disk = of(vfs);
        {
            const std::lock_guard lock{disk.mutex};
            disk.images.erase(name);
        }
        return disk.real->xDelete(disk.real, name, sync_folder);
    }

    static int close(sqlite3_file* file) {
        auto& opened = of(file);
        const int code = opened.next()->pMethods->xClose(opened.next());
        std::destroy_at(&opened);
        return code;
    }

    static int read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
        auto& opened = of(file);
        if (opened.disk->fails(DiskOperation::read)) return SQLITE_IOERR_READ;
        return opened.next()->pMethods->xRead(opened.next(), to, size, offset);
    }

    static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
        auto& opened = of(file);
        const bool failed = opened.disk->fails(DiskOperation::write);
        const int done = !failed ? size : size < sector_bytes ? 0 : size / 2;
        const int code = opened.next()->pMethods->xWrite(opened.next(), from, done, offset);
        if (code == SQLITE_OK && opened.image != nullptr) {
            const std::lock_guard lock{opened.disk->mutex};
            opened.image->write(static_cast<std::size_t>(offset),
                                {static_cast<const char*>(from), static_cast<std::size_t>(done)});
        }
        return failed ? SQLITE_FULL : code;
    }

    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        auto& opened = of(file);
        if (opened.disk->fails(DiskOperation::truncate)) return SQLITE_IOERR_TRUNCATE;
        const int code = opened.next()->pMethods->xTruncate(opened.next(), size);
        if (code == SQLITE_OK && opened.image != nullptr) {
            const std::lock_guard lock{opened.disk->mutex};
            opened.image->written.resize(static_cast<std::size_t>(size));
        }
        return code;
    }

    static int sync(sqlite3_file* file, int flags) {
        auto& opened = of(file);
        auto& disk = *opened.disk;
        disk.pass_sync(opened.log);
        Writes begun;
        if (opened.image != nullptr) {
            const std::lock_guard lock{disk.mutex};
            begun.swap(opened.image->unsynced);
        }
        // As on Linux, a failed sync loses its pages, and a second sync does not write them.
        if (disk.fails(DiskOperation::sync, opened.log)) return SQLITE_IOERR_FSYNC;
        const int code = opened.next()->pMethods->xSync(opened.next(), flags);
        const std::lock_guard lock{disk.mutex};
        if (code == SQLITE_OK && opened.image != nullptr) opened.image->sync(begun);
        ++disk.syncs;
        return code;
    }

    /// Waits while syncs are suspended.
    void pass_sync(bool log) {
        std::unique_lock lock{mutex};
        const auto waits = [&] {
            return suspending && (!log || *suspending == SuspendedSyncs::Of::all);
        };
        if (!waits()) return;
        ++suspended;
        changed.notify_all();
        changed.wait(lock, [&] { return !waits(); });
        --suspended;
    }

    bool fails(DiskOperation operation, bool log = true) {
        const std::lock_guard lock{mutex};
        const bool syncs_database = operation == DiskOperation::sync && !log;
        auto& plan = operation == DiskOperation::read ? reads : changes;
        const bool failed = plan.fails() || (syncs_database && database_syncs.fails());
        if (!failed) return false;
        ++failures;
        return true;
    }

    static const sqlite3_io_methods methods;

    sqlite3_vfs own{};
    sqlite3_vfs* usual = nullptr;
    sqlite3_vfs* real = nullptr;

    std::mutex mutex;  // Guards the next members.
    std::condition_variable changed;
    std::map<std::string, Image> images;
    Plan changes;
    Plan reads;
    Plan database_syncs;
    std::uint64_t failures = 0;
    std::uint64_t syncs = 0;
    std::optional<SuspendedSyncs::Of> suspending;
    int suspended = 0;
};

const sqlite3_io_methods Disk::Impl::methods{
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize =
        [](sqlite3_file* file, sqlite3_int64* size) {
            auto* next = of(file).next();
            return next->pMethods->xFileSize(next, size);
        },
    .xLock =
        [](sqlite3_file* file, int level) {
            auto* next = of(file).next();
            return next->pMethods->xLock(next, level);
        },
    .xUnlock =
        [](sqlite3_file* file, int level) {
            auto* next = of(file).next();
            return next->pMethods->xUnlock(next, level);
        },
    .xCheckReservedLock =
        [](sqlite3_file* file, int* out) {
            auto* next = of(file).next();
            return next->pMethods->xCheckReservedLock(next, out);
        },
    .xFileControl =
        [](sqlite3_file* file, int what, void* argument) {
            auto* next = of(file).next();
            return next->pMethods->xFileControl(next, what, argument);
        },
    .xSectorSize =
        [](sqlite3_file* file) {
            auto* next = of(file).next();
            return next->pMethods->xSectorSize(next);
        },
    .xDeviceCharacteristics =
        [](sqlite3_file* file) {
            auto* next = of(file).next();
            return next->pMethods->xDeviceCharacteristics(next);
        },
    .xShmMap =
        [](sqlite3_file* file, int page, int size, int extend, void volatile** out) {
            auto* next = of(file).next();
            return next->pMethods->xShmMap(next, page, size, extend, out);
        },
    .xShmLock =
        [](sqlite3_file* file, int offset, int count, int flags) {
            auto* next = of(file).next();
            return next->pMethods->xShmLock(next, offset, count, flags);
        },
    .xShmBarrier =
        [](sqlite3_file* file) {
            auto* next = of(file).next();
            next->pMethods->xShmBarrier(next);
        },
    .xShmUnmap =
        [](sqlite3_file* file, int remove) {
            auto* next = of(file).next();
            return next->pMethods->xShmUnmap(next, remove);
        },
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

Disk::Disk() : impl_{std::make_unique<Impl>()} {}
Disk::~Disk() = default;

void Disk::fail_changes(std::uint64_t nth, bool for_good) {
    const std::lock_guard lock{impl_->mutex};
    impl_->changes = {nth, for_good};
    impl_->failures = 0;
}

void Disk::fail_reads(std::uint64_t nth, bool for_good) {
    const std::lock_guard lock{impl_->mutex};
    impl_->reads = {nth, for_good};
    impl_->failures = 0;
}

void Disk::fail_database_sync(std::uint64_t nth) {
    const std::lock_guard lock{impl_->mutex};
    impl_->database_syncs = {nth, false};
    impl_->failures = 0;
}

void Disk::heal() {
    const std::lock_guard lock{impl_->mutex};
    impl_->changes = {};
    impl_->database_syncs = {};
    impl_->reads = {};
}

std::uint64_t Disk::failures() const {
    const std::lock_guard lock{impl_->mutex};
    return impl_->failures;
}

std::uint64_t Disk::syncs() const {
    const std::lock_guard lock{impl_->mutex};
    return impl_->syncs;
}

void Disk::copy_synced(const std::filesystem::path& file, const std::filesystem::path& to) const {
    const std::lock_guard lock{impl_->mutex};
    for (const char* suffix : {"", "-wal", "-journal"}) {
        const auto image = impl_->images.find(file.string() + suffix);
        if (image == impl_->images.end()) continue;
        std::ofstream copy{to.string() + suffix, std::ios::binary};
        const auto& bytes = image->second.synced;
        copy.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!copy.flush()) throw std::runtime_error{"cannot copy"};
    }
}

SuspendedSyncs::SuspendedSyncs(Disk& disk, Of which) : disk_{*disk.impl_} {
    const std::lock_guard lock{disk_.mutex};
    disk_.suspending = which;
}

void SuspendedSyncs::wait() {
    std::unique_lock lock{disk_.mutex};
    disk_.changed.wait(lock, [this] { return disk_.suspended > 0; });
}

void SuspendedSyncs::release() {
    const std::lock_guard lock{disk_.mutex};
    disk_.suspending.reset();
    disk_.changed.notify_all();
}

}  // namespace routemaster::test
