/// @file
/// Assertions that are enabled in every build type, so that a bug stops the program early.

#pragma once

namespace routemaster::detail {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace routemaster::detail

/// Terminates the program when `condition` is false, which means that there is a bug.
#define ROUTEMASTER_ASSERT(condition)   \
    ((condition) ? static_cast<void>(0) \
                 : ::routemaster::detail::assertion_failed(#condition, __FILE__, __LINE__))
