/// @file
/// The type of log callbacks. The library writes to no file and no stream itself.

#pragma once

#include <functional>
#include <string_view>

namespace routemaster {

/// The severity of a log line.
enum class LogLevel {
    debug,    ///< Details for debugging.
    info,     ///< A normal event of interest.
    warning,  ///< A fault that the program recovers from by itself.
    error,    ///< A fault that needs an operator.
};

/// The name of a level: `debug`, `info`, `warning` or `error`.
[[nodiscard]] constexpr std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warning: return "warning";
        case LogLevel::error: return "error";
    }
    return "?";
}

/// Callback that receives log lines. It may be called concurrently. It must not block for long, and
/// must not call the object that logs. An empty `Log` discards all lines.
using Log = std::function<void(LogLevel, std::string_view)>;

}  // namespace routemaster
