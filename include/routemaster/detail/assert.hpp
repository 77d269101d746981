/// @file
/// Assertions that stay on in every build type: a bug stops the program before it does harm.

#pragma once

#include <cstdio>
#include <cstdlib>

namespace routemaster::detail {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    std::abort();
}

}  // namespace routemaster::detail

/// Ends the program when `condition`, which only a bug can make false, does not hold.
#define ROUTEMASTER_ASSERT(condition)   \
    ((condition) ? static_cast<void>(0) \
                 : ::routemaster::detail::assertion_failed(#condition, __FILE__, __LINE__))
