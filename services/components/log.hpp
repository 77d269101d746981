/// @file
/// Log of the service, with its settings.

#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/log.hpp"

namespace routemaster::service {

/// The level of the log, and its file.
struct LogSettings {
    LogLevel level = LogLevel::info;
    std::string file;  ///< Empty for standard error.
};

/// Declares `--log-level` and `--log-file`. `settings` must outlive the parsing.
void declare_log(CLI::App& app, LogSettings& settings);

/// An open log.
struct OpenLog {
    Log log;
    /// Closes the file and opens a new file with the same name, for log rotation. May be called
    /// from any thread.
    std::function<void()> reopen;
};

/// Opens the log. Its lines have the form `[2026-01-31 12:00:00.000] LEVEL: message`, in UTC, and
/// are written immediately. A message is sanitised to one line; see `printable_text`. Throws
/// `CLI::Error` if the file cannot be opened.
[[nodiscard]] OpenLog open_log(const LogSettings& settings);

}  // namespace routemaster::service
