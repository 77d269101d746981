/// @file
/// Where the log of the service goes.

#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/log.hpp"

namespace routemaster::service {

/// The level of the log, and its file.
struct LogSettings {
    LogLevel level = LogLevel::info;
    std::string file;  ///< Empty: standard error.
};

/// Declares `--log-level` and `--log-file`. `settings` must outlive the parsing.
void declare_log(CLI::App& app, LogSettings& settings);

/// An open log.
struct OpenLog {
    Log log;
    /// Opens a new file of the same name, after the old one was moved away. Any thread.
    std::function<void()> reopen;
};

/// Lines `[2026-01-31 12:00:00.000] LEVEL: message`, in UTC, each written at once. A message is one
/// line, as `printable_text`. Throws `CLI::Error` when the file cannot be opened.
[[nodiscard]] OpenLog open_log(const LogSettings& settings);

}  // namespace routemaster::service
