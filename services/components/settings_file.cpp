#include "components/settings_file.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <toml++/toml.h>

#include "components/environment.hpp"
#include "components/renamed_settings.hpp"

namespace routemaster::service {
namespace {

struct Entry {
    unsigned line = 0;
    std::string name;
    std::vector<std::string> values;
};

/// A value as written on the command line; nothing for a table or a date.
std::optional<std::string> text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (!node.is_integer() && !node.is_floating_point()) return std::nullopt;
    std::ostringstream number;
    node.visit([&number](const auto& any) {
        if constexpr (toml::is_number<decltype(any)>) number << any.get();
    });
    return number.str();
}

/// The value, or the values of a list; nothing when it is neither.
std::optional<std::vector<std::string>> texts_of(const toml::node& node) {
    std::vector<std::string> texts;
    const auto add = [&texts](const toml::node& one) {
        auto text = text_of(one);
        if (text) texts.push_back(*std::move(text));
        return text.has_value();
    };
    const auto* list = node.as_array();
    const bool all = list == nullptr ? add(node) : std::all_of(list->begin(), list->end(), add);
    if (!all) return std::nullopt;
    return texts;
}

CLI::ConfigError refusal(const std::string& place, const std::string& why) {
    return CLI::ConfigError{"--config: " + place + ": " + why};
}

}  // namespace

std::string SettingsFile::path() const { return app_.get_config_ptr()->as<std::string>(); }

std::vector<CLI::ConfigItem> SettingsFile::from_config(std::istream& input) const {
    const std::string text{std::istreambuf_iterator<char>{input}, {}};
    toml::table table;
    try {
        table = toml::parse(text);
    } catch (const toml::parse_error& wrong) {
        throw refusal(at(wrong.source().begin.line), std::string{wrong.description()});
    }
    std::vector<Entry> entries;
    for (const auto& [key, node] : table) {
        const std::string name{key.str()};
        const auto line = key.source().begin.line;
        if (node.is_table() || node.is_array_of_tables()) {
            throw refusal(at(line), "[" + name +
                                        "]: there are no sections; write every setting as "
                                        "name = value, with the name of its flag");
        }
        const auto* option = app_.get_option_no_throw("--" + name);
        if (const auto now = name_now(name)) throw refusal(at(line), renamed_message(name, *now));
        if (option == nullptr || !option->get_configurable()) {
            throw refusal(at(line), "there is no setting '" + name + "'");
        }
        auto values = texts_of(node);
        if (!values) throw refusal(at(line), name + ": this type of value is not supported");
        // An empty list is passed as on the command line: as one empty text.
        if (values->empty() && option->get_items_expected_max() > 1) values->emplace_back();
        entries.push_back({line, name, *std::move(values)});
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.line < b.line; });
    std::vector<CLI::ConfigItem> settings;
    for (auto& entry : entries) {
        lines_[entry.name] = entry.line;
        if (set_in_environment(*app_.get_option("--" + entry.name))) continue;
        CLI::ConfigItem item;
        item.name = std::move(entry.name);
        item.inputs = std::move(entry.values);
        settings.push_back(std::move(item));
    }
    return settings;
}

std::string SettingsFile::source_of(const CLI::Option& option) const {
    const auto flag = "--" + name_of(option);
    const bool given = std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
        return word == flag || word.starts_with(flag + '=');
    });
    if (given) return "command line";
    if (set_in_environment(option)) return option.get_envname();
    const auto line = lines_.find(name_of(option));
    return line == lines_.end() ? std::string{} : at(line->second);
}

std::string name_of(const CLI::Option& option) {
    return option.get_lnames().empty() ? std::string{} : option.get_lnames().front();
}

void declare_settings_file(CLI::App& app) {
    app.config_formatter(std::make_shared<SettingsFile>(app));
    app.set_config("--config", "", "TOML file of settings, named as the flags");
}

SettingsFile* settings_file_of(const CLI::App& app) {
    return dynamic_cast<SettingsFile*>(app.get_config_formatter().get());
}

}  // namespace routemaster::service
