/// @file
/// Expectations for conformance cases. They depend on no test framework.

#pragma once

#include <string>

#include "routemaster/testing/store_conformance.hpp"
#include "text.hpp"

namespace routemaster::testing {

/// A source location in the suite. As a default argument, `Where::here()` is the location of the
/// call.
struct Where {
    const char* file;
    int line;

    /// The location of the call, also as a default argument of a helper.
    static constexpr Where here(const char* file = __builtin_FILE(),
                                int line = __builtin_LINE()) noexcept {
        return {file, line};
    }
};

[[noreturn]] inline void fail(const std::string& what, Where at = Where::here()) {
    throw ConformanceFailure{std::string{at.file} + ":" + std::to_string(at.line) + ": " + what};
}

/// Fails the case unless `condition` is true.
inline void expect(bool condition, const std::string& what, Where at = Where::here()) {
    if (!condition) fail(what, at);
}

/// Fails the case unless both values are equal. `what` names the value in the message.
template <class T, class U>
void expect_equal(const T& got, const U& expected, const std::string& what,
                  Where at = Where::here()) {
    if (got == expected) return;
    fail(what + ": expected " + Text::of(expected) + ", got " + Text::of(got), at);
}

}  // namespace routemaster::testing
