/// @file
/// Commands that show something again and again.

#pragma once

#include <CLI/CLI.hpp>

#include "components/program.hpp"

namespace routemaster::service {

/// Whether to show it again, and how often.
struct WatchSettings {
    bool watch = false;
    double interval = 2;  ///< Seconds.
};

/// Declares `--watch` and `--interval`. `settings` must outlive the parsing.
void declare_watch(CLI::App& app, WatchSettings& settings);

/// Shows something once, or until a signal ends the process or showing it fails. Once it was shown,
/// a bus that is `unavailable` is said to be so, and asked again. On a terminal it always stands at
/// the top.
[[nodiscard]] int show_as(const WatchSettings& settings, const Run& show);

}  // namespace routemaster::service
