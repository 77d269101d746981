/// @file
/// The log lines of a process about its settings.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Every setting that differs from its default, with its source: `port=8080 (PORT), body-max=5MB
/// (bus.toml:3)`. Hides secrets. Empty when there is none.
[[nodiscard]] std::string setting_sources(const CLI::App& app);

/// The files with secrets that others than their owner may read.
[[nodiscard]] std::vector<std::string> exposed_files(const CLI::App& app);

}  // namespace routemaster::service
