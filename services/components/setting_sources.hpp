/// @file
/// The log lines that a process writes about its settings.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Lists each setting that differs from its default, with its source: `port=8080 (PORT),
/// body-max=5MB (bus.toml:3)`. Hides secrets. Empty when all settings are defaults.
[[nodiscard]] std::string setting_sources(const CLI::App& app);

/// The files with secrets that users besides the owner may read.
[[nodiscard]] std::vector<std::string> exposed_files(const CLI::App& app);

}  // namespace routemaster::service
