#include "coalescing_vfs.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <sqlite3.h>

#include "routemaster/error.hpp"
#include "write_ahead_log.hpp"

namespace routemaster::embedded {
namespace {

constexpr const char* vfs_name = "routemaster";

constexpr const char* beneath = "unix-excl";

/// Size of the write buffer, in bytes. SQLite itself never writes 128 KiB or more in one call, and
/// the underlying VFS writes nothing for some larger sizes.
constexpr std::size_t gathered_max = 120U << 10U;

sqlite3_vfs* next() { return sqlite3_vfs_find(beneath); }

/// SQLite's file object for the log file, in memory allocated by SQLite. The file object of the
/// underlying VFS follows in memory.
class LogFile {
public:
    static LogFile& of(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

    [[nodiscard]] sqlite3_file* next() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    [[nodiscard]] const sqlite3_io_methods& methods() { return *next()->pMethods; }
    void ready(const sqlite3_io_methods& methods) { base_.pMethods = &methods; }

    int write(const void* from, std::size_t size, sqlite3_int64 offset) {
        const int code = gather(from, size, offset);
        if (code == SQLITE_OK) note(from, size, offset);
        return code;
    }

    /// Syncs the log. After the sync of a commit, writes a mark
    /// (`WriteAheadLog::acknowledged_mark`). The mark is optional, so errors of its write are
    /// ignored.
    int sync(int flags) {
        if (const int code = flush(); code != SQLITE_OK) return code;
        const auto commit_end = std::exchange(commit_end_, 0);
        const int code = methods().xSync(next(), flags);
        if (code == SQLITE_OK && commit_end != 0) {
            const auto mark = WriteAheadLog::acknowledged_mark(frame_);
            (void)write_through(mark.data(), mark.size(), commit_end);
        }
        return code;
    }

    /// Writes the buffer. If bytes cannot be written, they are dropped, and SQLite rolls their
    /// commit back.
    int flush() {
        const auto size = std::exchange(size_, 0);
        return size == 0 ? SQLITE_OK : write_through(gathered_.get(), size, at_);
    }

private:
    int gather(const void* from, std::size_t size, sqlite3_int64 offset) {
        const bool follows = offset == at_ + static_cast<sqlite3_int64>(size_);
        if (!follows || size_ + size > gathered_max) {
            if (const int code = flush(); code != SQLITE_OK) return code;
            at_ = offset;
        }
        if (size > gathered_max) return write_through(from, size, offset);
        if (!gathered_) gathered_.reset(new (std::nothrow) char[gathered_max]);
        if (!gathered_) return SQLITE_NOMEM;
        std::copy_n(static_cast<const char*>(from), size, gathered_.get() + size_);
        size_ += size;
        return SQLITE_OK;
    }

    /// Detects the end of a commit in the written bytes. SQLite writes the header of a frame in one
    /// call, and the page of the frame in the next call.
    void note(const void* from, std::size_t size, sqlite3_int64 offset) {
        const bool page = offset == page_at_;
        const bool commits = std::any_of(frame_.begin() + 4, frame_.begin() + 8,
                                         [](char byte) { return byte != 0; });
        commit_end_ = page && commits ? offset + static_cast<sqlite3_int64>(size) : 0;
        page_at_ = -1;
        if (size != frame_.size()) return;
        std::copy_n(static_cast<const char*>(from), size, frame_.begin());
        page_at_ = offset + static_cast<sqlite3_int64>(size);
    }

    int write_through(const void* from, std::size_t size, sqlite3_int64 offset) {
        const int code = methods().xWrite(next(), from, static_cast<int>(size), offset);
        if (code != SQLITE_OK) commit_end_ = 0;
        return code;
    }

    sqlite3_file base_{};
    std::unique_ptr<char[]> gathered_;
    std::size_t size_ = 0;
    sqlite3_int64 at_ = 0;
    WriteAheadLog::FrameHeader frame_{};
    sqlite3_int64 page_at_ = -1;    // Offset of the page that belongs to the last frame header.
    sqlite3_int64 commit_end_ = 0;  // Where the last write completed a commit; 0 if it did not.
};

template <auto method, class... Arguments>
int after_flush(sqlite3_file* file, Arguments... arguments) {
    auto& log = LogFile::of(file);
    if (const int code = log.flush(); code != SQLITE_OK) return code;
    return (log.methods().*method)(log.next(), arguments...);
}

int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    return LogFile::of(file).write(from, static_cast<std::size_t>(size), offset);
}

int sync(sqlite3_file* file, int flags) { return LogFile::of(file).sync(flags); }

int close(sqlite3_file* file) {
    auto& log = LogFile::of(file);
    const int written = log.flush();
    const int closed = log.methods().xClose(log.next());
    std::destroy_at(&log);
    return written != SQLITE_OK ? written : closed;
}

template <auto method, class... Arguments>
auto pass(sqlite3_file* file, Arguments... arguments) {
    auto& log = LogFile::of(file);
    return (log.methods().*method)(log.next(), arguments...);
}

using Methods = sqlite3_io_methods;

/// The shared-memory and mapping methods are null: SQLite uses them only for the database, not for
/// the log.
constexpr Methods methods{
    .iVersion = 1,
    .xClose = close,
    .xRead = after_flush<&Methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = write,
    .xTruncate = after_flush<&Methods::xTruncate, sqlite3_int64>,
    .xSync = sync,
    .xFileSize = after_flush<&Methods::xFileSize, sqlite3_int64*>,
    .xLock = pass<&Methods::xLock, int>,
    .xUnlock = pass<&Methods::xUnlock, int>,
    .xCheckReservedLock = pass<&Methods::xCheckReservedLock, int*>,
    .xFileControl = pass<&Methods::xFileControl, int, void*>,
    .xSectorSize = pass<&Methods::xSectorSize>,
    .xDeviceCharacteristics = pass<&Methods::xDeviceCharacteristics>,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out) {
    auto* vfs = next();
    if ((flags & SQLITE_OPEN_WAL) == 0) return vfs->xOpen(vfs, path, file, flags, out);
    auto& log = *new (file) LogFile;
    const int code = vfs->xOpen(vfs, path, log.next(), flags, out);
    if (code == SQLITE_OK) {
        log.ready(methods);
    } else {
        std::destroy_at(&log);
    }
    return code;
}

class Registration {
public:
    Registration() : vfs_{*next()} {
        vfs_.zName = vfs_name;
        vfs_.szOsFile += static_cast<int>(sizeof(LogFile));
        vfs_.pNext = nullptr;
        vfs_.xOpen = open;
        vfs_.xDelete = [](sqlite3_vfs*, const char* path, int sync_folder) {
            auto* vfs = next();
            return vfs->xDelete(vfs, path, sync_folder);
        };
        vfs_.xAccess = [](sqlite3_vfs*, const char* path, int flags, int* out) {
            auto* vfs = next();
            return vfs->xAccess(vfs, path, flags, out);
        };
        vfs_.xFullPathname = [](sqlite3_vfs*, const char* path, int size, char* out) {
            auto* vfs = next();
            return vfs->xFullPathname(vfs, path, size, out);
        };
        if (sqlite3_vfs_register(&vfs_, 0) != SQLITE_OK) {
            throw Failure{{Errc::unavailable, "cannot use SQLite"}};
        }
    }
    ~Registration() { sqlite3_vfs_unregister(&vfs_); }

    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

private:
    sqlite3_vfs vfs_;
};

}  // namespace

const char* coalescing_vfs() {
    static const Registration registration;
    return vfs_name;
}

}  // namespace routemaster::embedded
