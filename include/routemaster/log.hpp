/// @file
/// Log lines go to a callback. The library writes to no file and to no stream of its own.

#pragma once

#include <functional>
#include <string_view>

namespace routemaster {

/// The severity of a log line.
enum class LogLevel {
    debug,    ///< Details for debugging.
    info,     ///< A normal event of interest.
    warning,  ///< A fault that the program handles itself.
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

/// A callback that receives log lines. Several threads may call it at once. It must not block for
/// long, and must not call into the object that logs. An empty `Log` discards all lines.
using Log = std::function<void(LogLevel, std::string_view)>;

}  // namespace routemaster
