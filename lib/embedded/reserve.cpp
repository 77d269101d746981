#include "reserve.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "file_size_limit.hpp"

namespace routemaster::embedded {
namespace {

constexpr std::uint64_t disk_shares = 8;

std::filesystem::space_info space_at(const std::filesystem::path& file) {
    std::error_code unknown;
    const auto folder = file.parent_path();
    auto space = std::filesystem::space(folder.empty() ? "." : folder, unknown);
    if (unknown) space = {};
    return space;
}

}  // namespace

Reserve::Reserve(const std::filesystem::path& journal, std::uint64_t bytes)
    : path_{journal.string() + "-reserve"},
      bytes_{std::min<std::uint64_t>(
          bytes,
          std::min<std::uint64_t>(space_at(journal).capacity, file_size_limit()) / disk_shares)} {}

bool Reserve::take() {
    if (bytes_ == 0) return true;
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return errno != ENOSPC && errno != EDQUOT;
    int failed = EINTR;
    while (failed == EINTR) failed = ::posix_fallocate(file, 0, static_cast<off_t>(bytes_));
    // A killed process may have left a larger file. The file is then truncated.
    if (failed == 0) failed = ::ftruncate(file, static_cast<off_t>(bytes_)) == 0 ? 0 : errno;
    ::close(file);
    if (failed == 0) return true;
    release();
    return failed != ENOSPC && failed != EDQUOT && failed != EIO;
}

void Reserve::release() noexcept {
    if (!left_) ::unlink(path_.c_str());
}

std::uint64_t Reserve::free_bytes() const { return space_at(path_).available; }

}  // namespace routemaster::embedded
