/// @file
/// The settings file of a command.

#pragma once

#include <iosfwd>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Reads settings from TOML: `name = value`, the names being those of the flags.
///
/// CLI11 lets a file win over the environment and ignores what it does not know. Here a variable
/// wins over the file, since it is nearer to the one who starts the program, and a name that is no
/// setting is an error.
class SettingsFile final : public CLI::ConfigTOML {
public:
    /// `app` must outlive it.
    explicit SettingsFile(const CLI::App& app) : app_{app} {}

    std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

private:
    const CLI::App& app_;
};

/// Gives `app` a `--config` that is read by a `SettingsFile`.
void declare_settings_file(CLI::App& app);

}  // namespace routemaster::service
