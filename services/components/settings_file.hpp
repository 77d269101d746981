/// @file
/// The settings file of a command.

#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Reads settings from TOML: `name = value`, with the names of the flags. There are no sections.
/// Errors name the file, the line and the setting.
///
/// In CLI11 a file wins over the environment. Here a variable wins over the file, since it is
/// closer to the start of the program. CLI11 does not report where a setting comes from either, so
/// this class finds it out.
class SettingsFile final : public CLI::Config {
public:
    /// `app` must outlive it.
    explicit SettingsFile(const CLI::App& app) : app_{app} {}

    std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }
    std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

    /// The words of the command line, before they are parsed.
    void note_words(const std::vector<std::string>& words) { words_ = words; }

    /// The source of a setting: `command line`, a variable, or `bus.toml:3`; empty when it was not
    /// set.
    [[nodiscard]] std::string source_of(const CLI::Option& option) const;

    /// Whether the file has this setting, though another source may win.
    [[nodiscard]] bool has(const std::string& name) const { return lines_.contains(name); }

    /// The path that `--config` names; empty when there is none.
    [[nodiscard]] std::string path() const;

private:
    [[nodiscard]] std::string at(unsigned line) const {
        return path() + ':' + std::to_string(line);
    }

    const CLI::App& app_;
    std::vector<std::string> words_;
    mutable std::map<std::string, unsigned> lines_;  // Of the settings in the file, by name.
};

/// The name of a setting in a file: its flag without the dashes. Empty for other options.
[[nodiscard]] std::string name_of(const CLI::Option& option);

/// Gives `app` a `--config` that is read by a `SettingsFile`.
void declare_settings_file(CLI::App& app);

/// The settings file of a program; null when it takes none.
[[nodiscard]] SettingsFile* settings_file_of(const CLI::App& app);

}  // namespace routemaster::service
