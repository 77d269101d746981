/// @file
/// `SettingsFile`: the settings file of a command, in TOML.

#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Parser of settings in TOML: `name = value`, with the names of the flags. Sections are not
/// supported. Errors contain the file, the line and the setting.
///
/// In CLI11 a file overrides the environment. Here an environment variable overrides the file,
/// because the variable is set for a single start of the program. This class also reports the
/// source of a setting, and CLI11 does not.
class SettingsFile final : public CLI::Config {
public:
    /// `app` must outlive this object.
    explicit SettingsFile(const CLI::App& app) : app_{app} {}

    std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }
    std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

    /// Stores the words of the command line, for `source_of`. Must be called before parsing.
    void note_words(const std::vector<std::string>& words) { words_ = words; }

    /// Returns the source of a setting: `command line`, a variable, or `bus.toml:3`; empty if the
    /// setting was not set.
    [[nodiscard]] std::string source_of(const CLI::Option& option) const;

    /// Whether the file contains this setting. Another source may override it.
    [[nodiscard]] bool has(const std::string& name) const { return lines_.contains(name); }

    /// Returns the path given by `--config`; empty if there is none.
    [[nodiscard]] std::string path() const;

private:
    [[nodiscard]] std::string at(unsigned line) const {
        return path() + ':' + std::to_string(line);
    }

    const CLI::App& app_;
    std::vector<std::string> words_;
    mutable std::map<std::string, unsigned> lines_;  // Line numbers in the file, by setting.
};

/// Returns the name of a setting in a file: its flag without dashes. Empty for an option that is
/// not a setting.
[[nodiscard]] std::string name_of(const CLI::Option& option);

/// Adds `--config` to `app`, read by a `SettingsFile`.
void declare_settings_file(CLI::App& app);

/// Returns the settings file of a program; null if the program has no `--config`.
[[nodiscard]] SettingsFile* settings_file_of(const CLI::App& app);

}  // namespace routemaster::service
