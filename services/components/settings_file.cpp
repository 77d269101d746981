#include "components/settings_file.hpp"

#include <algorithm>
#include <array>
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

/// Converts a value to its command-line form; nothing for a table or a date.
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

/// Converts a value, or the values of a list. The type of the node must have been validated.
std::vector<std::string> texts_of(const toml::node& node) {
    const auto* const list = node.as_array();
    if (list == nullptr) return {text_of(node).value()};
    std::vector<std::string> texts;
    for (const auto& element : *list) texts.push_back(text_of(element).value());
    return texts;
}

bool is_yes_or_no(const std::string& text) {
    constexpr std::array<std::string_view, 6> words{"true", "false", "yes", "no", "on", "off"};
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Whether a text may be meant as a number. If it is no valid number, the flag's own validator
/// reports the error.
bool begins_as_number(const std::string& text) { return text.find_first_of("+-.0123456789") == 0; }

/// Returns the type of value that a setting requires, in words; empty if `node` has this type.
std::string missed_type(const CLI::Option& option, const toml::node& node) {
    const auto* const text = node.as_string();
    const auto wants = option.get_type_name();
    if (option.get_items_expected_max() == 0) {
        const bool fits = node.is_boolean() || (text != nullptr && is_yes_or_no(text->get()));
        return fits ? "" : "true or false";
    }
    if (node.is_array()) {
        const auto& list = *node.as_array();
        const auto is_text = [](const toml::node& element) { return text_of(element).has_value(); };
        const bool takes_list = option.get_items_expected_max() > 1;
        if (takes_list && std::all_of(list.begin(), list.end(), is_text)) return "";
        return takes_list ? "a list of texts" : "one value";
    }
    const bool may_be_number = text != nullptr && begins_as_number(text->get());
    if (wants.starts_with("UINT") || wants.starts_with("INT")) {
        return node.is_integer() || may_be_number ? "" : "a whole number";
    }
    if (wants.starts_with("FLOAT")) return node.is_number() || may_be_number ? "" : "a number";
    return text_of(node) ? "" : "a text";
}

std::string_view type_of(const toml::node& node) {
    if (node.is_array()) return "a list";
    if (node.is_string()) return "a text";
    if (node.is_boolean()) return "true or false";
    if (node.is_integer()) return "a whole number";
    return node.is_floating_point() ? "a fraction" : "a date or a time";
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
        if (const auto missed = missed_type(*option, node); !missed.empty()) {
            throw refusal(at(line),
                          name + ": must be " + missed + ", not " + std::string{type_of(node)});
        }
        auto values = texts_of(node);
        // An empty list becomes one empty text, as on the command line.
        if (values.empty()) values.emplace_back();
        entries.push_back({line, name, std::move(values)});
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
