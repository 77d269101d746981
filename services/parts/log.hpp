/// @file
/// Where the log of the service goes.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/log.hpp"

namespace routemaster::service {

/// What is logged, and where to.
struct LogSettings {
    LogLevel level = LogLevel::info;
    std::string file;  ///< Empty: standard error.
};

/// Declares `--log-level` and `--log-file`. `settings` must outlive the parsing.
void declare_log(CLI::App& app, LogSettings& settings);

/// Lines `[2026-01-31 12:00:00.000] LEVEL: message`, in UTC, each written at once. Throws `Failure`
/// when the file cannot be opened.
[[nodiscard]] Log open_log(const LogSettings& settings);

}  // namespace routemaster::service
