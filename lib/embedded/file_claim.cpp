#include "file_claim.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>

#include "core/system/owner_process.hpp"
#include "routemaster/error.hpp"

namespace routemaster::embedded {
namespace {

struct Claims {
    std::mutex mutex;
    std::map<std::pair<dev_t, ino_t>, detail::OwnerProcess> files;
};

/// Never destroyed, because stores that are static objects may be destroyed later.
Claims& claims() {
    static auto* all = new Claims;
    return *all;
}

std::pair<dev_t, ino_t> identity_of(const std::filesystem::path& file) {
    struct stat about {};
    if (stat(file.c_str(), &about) == 0) return {about.st_dev, about.st_ino};
    throw Failure{{Errc::unavailable,
                   file.string() + ": cannot open it: " + std::generic_category().message(errno)}};
}

}  // namespace

FileClaim::FileClaim(const std::filesystem::path& file) : identity_{identity_of(file)} {
    const std::lock_guard lock{claims().mutex};
    const auto [place, added] = claims().files.try_emplace(identity_, "file", "opened", "open");
    if (added) return;
    // In a forked child, SQLite would mistake the locks of the parent for locks of the child.
    if (!place->second.is_this()) throw Failure{place->second.refusal(file.string())};
    throw Failure{{Errc::unavailable, file.string() + ": in use by this process already"}};
}

bool FileClaim::stands_at(const std::filesystem::path& path) const noexcept {
    struct stat about {};
    return stat(path.c_str(), &about) == 0 && identity_ == std::pair{about.st_dev, about.st_ino};
}

FileClaim::~FileClaim() {
    const std::lock_guard lock{claims().mutex};
    claims().files.erase(identity_);
}

}  // namespace routemaster::embedded
