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
/// In CLI11 a file overrides the environment. Here an environment variable overrides the file,
/// because the variable is set closer to the start of the program. CLI11 also does not report the
/// source of a setting; this class does.
class SettingsFile final : public CLI::Config {
public:
    /// `app` must outlive it.
    explicit SettingsFile(const CLI::App& app) : app_{app} {}

    std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }
    std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

    /// Remembers the words of the command line. Call it before parsing.
    void note_words(const std::vector<std::string>& words) { words_ = words; }

    /// The source of a setting: `command line`, a variable, or `bus.toml:3`; empty when the setting
    /// was not set.
    [[nodiscard]] std::string source_of(const CLI::Option& option) const;

    /// Whether the file has this setting. Another source may override it.
    [[nodiscard]] bool has(const std::string& name) const { return lines_.contains(name); }

    /// The path given by `--config`; empty when there is none.
    [[nodiscard]] std::string path() const;

private:
    [[nodiscard]] std::string at(unsigned line) const {
        return path() + ':' + std::to_string(line);
    }

    const CLI::App& app_;
    std::vector<std::string> words_;
    mutable std::map<std::string, unsigned> lines_;  // The lines of the settings in the file, by
                                                     // name.
};

/// The name of a setting in a file: its flag without dashes. Empty for options that are not
/// settings.
[[nodiscard]] std::string name_of(const CLI::Option& option);

/// Adds `--config` to `app`, read by a `SettingsFile`.
void declare_settings_file(CLI::App& app);

/// The settings file of a program; null when the program has no `--config`.
[[nodiscard]] SettingsFile* settings_file_of(const CLI::App& app);

}  // namespace routemaster::service
