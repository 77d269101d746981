#include "checkpointer.hpp"

#include <algorithm>
#include <utility>

#include <sqlite3.h>

#include "core/system/thread.hpp"

namespace routemaster::embedded {

void Checkpointer::Closer::operator()(sqlite3* database) const noexcept { sqlite3_close(database); }

Checkpointer::Checkpointer(std::filesystem::path file, const char* access)
    : file_{std::move(file)}, access_{access}, thread_{detail::start_thread([this] { work(); })} {}

Checkpointer::~Checkpointer() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void Checkpointer::begin() {
    const std::lock_guard lock{mutex_};
    busy_ = true;
    changed_.notify_all();
}

bool Checkpointer::busy() const {
    const std::lock_guard lock{mutex_};
    return busy_;
}

void Checkpointer::wait() const {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !busy_; });
}

std::optional<int> Checkpointer::pages() const {
    const std::lock_guard lock{mutex_};
    return pages_;
}

void Checkpointer::work() {
    std::unique_lock lock{mutex_};
    while (true) {
        changed_.wait(lock, [this] { return busy_ || stopping_; });
        if (!busy_) return;
        lock.unlock();
        const auto pages = checkpoint();
        lock.lock();
        pages_ = pages;
        busy_ = false;
        changed_.notify_all();
    }
}

std::optional<int> Checkpointer::checkpoint() {
    if (!database_) database_ = open();
    if (!database_) return 0;
    int home = 0;
    const int code = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                               nullptr, &home);
    if ((code & 0xff) == SQLITE_IOERR) return std::nullopt;
    if (code != SQLITE_OK) return 0;
    // SQLite syncs the file only once the whole log is copied. Without this sync, the commit that
    // copies the last pages would wait for the sync of all earlier pages.
    if (!sync()) return std::nullopt;
    return std::max(0, home);
}

bool Checkpointer::sync() {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(database_.get(), nullptr, SQLITE_FCNTL_FILE_POINTER, &file);
    return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}

Checkpointer::Connection Checkpointer::open() const {
    sqlite3* opened = nullptr;
    int code = sqlite3_open_v2(file_.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                               access_);
    Connection database{opened};
    // The PRAGMA also makes SQLite read the file and thereby discover the log.
    if (code == SQLITE_OK) {
        code = sqlite3_exec(opened, "PRAGMA synchronous=FULL", nullptr, nullptr, nullptr);
    }
    return code == SQLITE_OK ? std::move(database) : nullptr;
}

}  // namespace routemaster::embedded
