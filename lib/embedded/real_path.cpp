#include "real_path.hpp"

#include <system_error>

namespace routemaster::embedded {
namespace {

/// The maximum that Linux follows.
constexpr int links_max = 40;

}  // namespace

std::filesystem::path real_path(const std::filesystem::path& path) {
    std::error_code unknown;
    auto real = absolute(path, unknown);
    if (unknown) return path;
    // The last link may lead to a missing file, for which `canonical` would fail.
    for (int links = 0; is_symlink(symlink_status(real, unknown)); ++links) {
        const auto target = read_symlink(real, unknown);
        if (unknown || links == links_max) return path;
        real = real.parent_path() / target;
    }
    auto plain = weakly_canonical(real, unknown);
    return unknown ? real : plain;
}

}  // namespace routemaster::embedded
