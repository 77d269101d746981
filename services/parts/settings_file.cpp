#include "parts/settings_file.hpp"

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

namespace routemaster::service {
namespace {

bool set_in_environment(const CLI::Option& option) {
    const auto& variable = option.get_envname();
    const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    return value != nullptr && *value != '\0';
}

/// CLI11 takes a `#` for the beginning of a comment even between quotes, and would cut the value
/// there without a word.
void refuse_quoted_hash(const std::string& line, int number) {
    char quote = '\0';
    for (const char c : line) {
        if (quote == '\0' && c == '#') return;
        if (c == '#') {
            throw CLI::ConfigError("--config: line " + std::to_string(number) +
                                   ": a # between quotes cannot be read; use a flag or a variable");
        }
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        }
    }
}

}  // namespace

std::vector<CLI::ConfigItem> SettingsFile::from_config(std::istream& input) const {
    std::stringstream checked;
    int number = 0;
    for (std::string line; std::getline(input, line);) {
        refuse_quoted_hash(line, ++number);
        checked << line << '\n';
    }
    auto found = CLI::ConfigTOML::from_config(checked);
    std::erase_if(found, [&](const CLI::ConfigItem& item) {
        const auto* option =
            item.parents.empty() ? app_.get_option_no_throw("--" + item.name) : nullptr;
        if (option == nullptr || !option->get_configurable()) {
            throw CLI::ConfigError("--config: no setting is called '" + item.fullname() + "'");
        }
        return set_in_environment(*option);
    });
    return found;
}

void declare_settings_file(CLI::App& app) {
    app.config_formatter(std::make_shared<SettingsFile>(app));
    app.set_config("--config", "", "TOML file of settings, named as the flags");
}

}  // namespace routemaster::service
