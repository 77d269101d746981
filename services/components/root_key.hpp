/// @file
/// The operator's token, as a setting or in a file.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Where to find the root key. At most one of the two is set.
struct RootKeySettings {
    std::string key{};
    std::string file{};  ///< A file whose first line is the key.
};

/// Declares `--root-key` and `--root-key-file`. `settings` must outlive the parsing.
void declare_root_key(CLI::App& app, RootKeySettings& settings);

/// Returns the root key; empty when no key is set. Throws `CLI::ValidationError` when the file
/// cannot be read or has no key.
[[nodiscard]] std::string find_root_key(const RootKeySettings& settings);

/// As `find_root_key`, but throws `CLI::RequiredError` when no key is set.
[[nodiscard]] std::string require_root_key(const RootKeySettings& settings);

}  // namespace routemaster::service
