/// @file
/// The limit on the size of a file, as set by `ulimit -f`.

#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <limits>

namespace routemaster::embedded {

/// Maximum size of a file of this process in bytes (`ulimit -f`). The maximum of the type means no
/// limit.
[[nodiscard]] inline std::uint64_t file_size_limit() noexcept {
    constexpr auto none = std::numeric_limits<std::uint64_t>::max();
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return none;
    return limit.rlim_cur;
}

}  // namespace routemaster::embedded
