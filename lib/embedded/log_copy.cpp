#include "log_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include "core/system/file_descriptor.hpp"
#include "folder_sync.hpp"
#include "routemaster/error.hpp"

namespace routemaster::embedded {
namespace {

using detail::FileDescriptor;

constexpr std::size_t copied_at_a_time = 1U << 20U;

constexpr int copies_max = 10'000;

bool write_all(const FileDescriptor& to, const char* bytes, std::size_t size) {
    while (size > 0) {
        const auto written = ::write(to.get(), bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

bool copy(const FileDescriptor& from, const FileDescriptor& to) {
    std::vector<char> bytes(copied_at_a_time);
    while (true) {
        const auto count = ::read(from.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        if (count == 0) return ::fsync(to.get()) == 0;
        if (!write_all(to, bytes.data(), static_cast<std::size_t>(count))) return false;
    }
}

Failure cannot_copy(const std::filesystem::path& log, int number) {
    return Failure{{Errc::unavailable, log.string() + ": cannot be copied: " +
                                           std::generic_category().message(number)}};
}

}  // namespace

std::filesystem::path copy_damaged_log(const std::filesystem::path& log) {
    const FileDescriptor from{::open(log.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!from) throw cannot_copy(log, errno);
    auto name = log.string() + ".damaged";
    for (int copies = 1; copies <= copies_max; ++copies) {
        if (copies > 1) name = log.string() + ".damaged-" + std::to_string(copies);
        const FileDescriptor to{
            ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
        if (!to && errno == EEXIST) continue;
        if (!to) throw cannot_copy(log, errno);
        if (copy(from, to) && sync_folder_of(name)) return name;
        const int number = errno;
        ::unlink(name.c_str());
        throw cannot_copy(log, number);
    }
    throw cannot_copy(log, EEXIST);
}

}  // namespace routemaster::embedded
