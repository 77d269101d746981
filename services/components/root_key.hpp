/// @file
/// The operator's token, as a setting or in a file.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Where the root key is; at most one of the two is set.
struct RootKeySettings {
    std::string key{};
    std::string file{};  ///< Its first line is the key.
};

/// Declares `--root-key` and `--root-key-file`. `settings` must outlive the parsing.
void declare_root_key(CLI::App& app, RootKeySettings& settings);

/// The root key; empty when none is set. Throws `CLI::ValidationError` when the file has none.
[[nodiscard]] std::string find_root_key(const RootKeySettings& settings);

/// The same, but throws `CLI::RequiredError` when none is set.
[[nodiscard]] std::string require_root_key(const RootKeySettings& settings);

}  // namespace routemaster::service
