/// @file
/// Assertions that stay on in every build type: a bug stops the program before it does harm.

#pragma once

namespace routemaster::detail {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace routemaster::detail

/// Ends the program when `condition` is false, which only a bug can cause.
#define ROUTEMASTER_ASSERT(condition)   \
    ((condition) ? static_cast<void>(0) \
                 : ::routemaster::detail::assertion_failed(#condition, __FILE__, __LINE__))
