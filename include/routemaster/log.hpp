/// @file
/// Log lines go to a callback: the library writes to no file and no stream of its own.

#pragma once

#include <functional>
#include <string_view>

namespace routemaster {

/// How much a line matters.
enum class LogLevel {
    debug,    ///< For whoever looks for a fault.
    info,     ///< Something happened that is worth a line.
    warning,  ///< Something went wrong and is being dealt with.
    error,    ///< Something went wrong that an operator should look at.
};

/// The word for a level: `debug`, `info`, `warning`, `error`.
[[nodiscard]] constexpr std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warning: return "warning";
        case LogLevel::error: return "error";
    }
    return "?";
}

/// Receives log lines. Called from any thread, several at once; must not block for long and must
/// not call back into the object that logs. An empty one logs nothing.
using Log = std::function<void(LogLevel, std::string_view)>;

}  // namespace routemaster
