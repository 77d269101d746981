/// @file
/// Repeats the output of a command until the command is interrupted.

#pragma once

#include <CLI/CLI.hpp>

#include "components/program.hpp"

namespace routemaster::service {

/// Whether to repeat the output, and how often.
struct WatchSettings {
    bool watch = false;
    double interval = 2;  ///< Seconds.
};

/// Declares `--watch` and `--interval`. `settings` must outlive the parsing.
void declare_watch(CLI::App& app, WatchSettings& settings);

/// Calls `show` once, or with `watch` repeatedly until `show` fails or a signal ends the process.
/// After the first success, a failure with `unavailable` is printed, and `show` is called again. On
/// a terminal the screen is cleared before each output. Returns the exit status.
[[nodiscard]] int show_as(const WatchSettings& settings, const Run& show);

}  // namespace routemaster::service
