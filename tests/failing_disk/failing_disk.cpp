// Loaded into a program before its C library (LD_PRELOAD). While the file named by the variable
// FAILING_DISK exists, every 40th write to a file is truncated or fails, and every 15th sync fails.
// With FAILING_DISK_WAITS no call fails, but syncs wait until the file is gone. Sockets and pipes
// are not affected.

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

bool is_file(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

bool armed(int descriptor) {
    const char* const trigger = std::getenv("FAILING_DISK");
    return trigger != nullptr && ::access(trigger, F_OK) == 0 && is_file(descriptor);
}

bool waits() {
    static const bool set = std::getenv("FAILING_DISK_WAITS") != nullptr;
    return set;
}

std::atomic<unsigned> writes = 0;
std::atomic<unsigned> syncs = 0;

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Write = ssize_t (*)(int, const void*, size_t, off64_t);
using Sync = int (*)(int);

ssize_t write_at(Write real, int descriptor, const void* bytes, size_t size, off64_t offset) {
    if (armed(descriptor) && !waits()) {
        const auto turn = ++writes % 120;
        if (turn == 40) {
            errno = EIO;
            return -1;
        }
        if (turn == 80) {
            errno = ENOSPC;
            return -1;
        }
        if (turn == 0 && size > 1) return real(descriptor, bytes, size / 2, offset);
    }
    return real(descriptor, bytes, size, offset);
}

int sync(Sync real, int descriptor) {
    while (waits() && armed(descriptor)) ::usleep(2'000);
    if (armed(descriptor) && ++syncs % 15 == 0) {
        errno = EIO;
        return -1;
    }
    return real(descriptor);
}

}  // namespace

extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
    static const auto real = next<Write>("pwrite");
    return write_at(real, descriptor, bytes, size, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
    static const auto real = next<Write>("pwrite64");
    return write_at(real, descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
    static const auto real = next<Sync>("fsync");
    return sync(real, descriptor);
}

int fdatasync(int descriptor) {
    static const auto real = next<Sync>("fdatasync");
    return sync(real, descriptor);
}
}
