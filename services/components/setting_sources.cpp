#include "components/setting_sources.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "components/secret_settings.hpp"
#include "components/settings_file.hpp"
#include "routemaster/public_part.hpp"

namespace routemaster::service {
namespace {

std::string value_of(const CLI::Option& option) {
    std::string text;
    for (const auto& each : option.results()) {
        if (!text.empty()) text.push_back(',');
        text.append(each);
    }
    return text;
}

std::optional<double> number_of(const std::string& text) {
    double number = 0;
    return CLI::detail::lexical_cast(text, number) ? std::optional{number} : std::nullopt;
}

/// Whether two texts represent the same value: `8` equals `8.0`, `yes` equals `1`, and `no` equals
/// `false`.
bool same(const std::string& a, const std::string& b) {
    const auto number = [](const std::string& text) {
        if (text == "true" || text == "yes") return std::optional{1.0};
        if (text == "false" || text == "no") return std::optional{0.0};
        return number_of(text);
    };
    return a == b || (number(a) && number(a) == number(b));
}

bool is_default(const CLI::Option& option, const std::string& value) {
    const bool flag = option.get_expected_min() == 0;
    std::string usual = flag ? "false" : option.get_default_str();
    // CLI11 prints several values in brackets.
    if (usual.starts_with('[')) usual = usual.substr(1, usual.size() - 2);
    return same(value, usual);
}

bool others_may_read(const std::string& file) {
    struct stat status {};
    constexpr mode_t others = 077;
    return ::stat(file.c_str(), &status) == 0 && (status.st_mode & others) != 0;
}

}  // namespace

std::string setting_sources(const CLI::App& app) {
    const auto* const sources = settings_file_of(app);
    std::string text;
    for (const auto* option : app.get_options()) {
        const auto source = sources->source_of(*option);
        const auto value = value_of(*option);
        if (source.empty() || is_default(*option, value)) continue;
        const auto name = name_of(*option);
        if (!text.empty()) text.append(", ");
        text.append(name).append("=").append(is_secret(name) ? "***" : without_password(value));
        text.append(" (").append(source).append(")");
    }
    return text;
}

std::vector<std::string> exposed_files(const CLI::App& app) {
    std::vector<std::string> files;
    const auto* const settings = settings_file_of(app);
    const auto options = app.get_options();
    const bool secret = std::any_of(options.begin(), options.end(), [&](const CLI::Option* each) {
        return is_secret(name_of(*each)) && settings->has(name_of(*each));
    });
    if (secret) files.push_back(settings->path());
    const auto* const key = app.get_option_no_throw("--root-key-file");
    if (key != nullptr && !key->empty()) files.push_back(value_of(*key));
    std::erase_if(files, [](const std::string& file) { return !others_may_read(file); });
    return files;
}

}  // namespace routemaster::service
