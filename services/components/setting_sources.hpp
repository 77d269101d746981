/// @file
/// What a process logs about its settings.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Every setting that is not what it is by default, with where it comes from: `port=8080 (PORT),
/// body-max=5MB (bus.toml:3)`. Secrets are not shown. Empty when there is none.
[[nodiscard]] std::string setting_sources(const CLI::App& app);

/// The files that hold secrets and that others than their owner may read.
[[nodiscard]] std::vector<std::string> exposed_files(const CLI::App& app);

}  // namespace routemaster::service
