/// @file
/// Describes the settings of a process for its log.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Lists each setting that differs from its default, with its source: `port=8080 (PORT),
/// body-max=5MB (bus.toml:3)`. Hides secrets. Empty when all settings are defaults.
[[nodiscard]] std::string setting_sources(const CLI::App& app);

/// Returns the files with secrets that other users than the owner may read.
[[nodiscard]] std::vector<std::string> exposed_files(const CLI::App& app);

}  // namespace routemaster::service
