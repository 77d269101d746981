/// @file
/// Settings for the operator's token, the root key.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// The root key, or the file that contains it. At most one of the two is set.
struct RootKeySettings {
    std::string key{};
    std::string file{};  ///< A file whose first line is the key.
};

/// Declares `--root-key` and `--root-key-file`. `settings` must outlive the parsing.
void declare_root_key(CLI::App& app, RootKeySettings& settings);

/// Returns the root key; empty if none is set. Throws `CLI::ValidationError` if the file cannot be
/// read or contains no key.
[[nodiscard]] std::string find_root_key(const RootKeySettings& settings);

/// Like `find_root_key`, but throws `CLI::RequiredError` if no key is set.
[[nodiscard]] std::string require_root_key(const RootKeySettings& settings);

}  // namespace routemaster::service
