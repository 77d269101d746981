#include "components/command_words.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace routemaster::service {
namespace {

bool is_file_to_execute(const std::string& path) {
    std::error_code failed;
    return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, failed);
}

bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n'; }

}  // namespace

std::optional<std::vector<std::string>> command_words(std::string_view text) {
    std::vector<std::string> words;
    std::optional<std::string> word;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool last = i + 1 == text.size();
        if (quote == 0 && is_space(c)) {
            if (word) words.push_back(*std::exchange(word, std::nullopt));
            continue;
        }
        if (!word) word.emplace();
        const bool escapes = c == '\\' && quote != '\'' &&
                             (quote == 0 || (!last && (text[i + 1] == '"' || text[i + 1] == '\\')));
        if (escapes) {
            if (last) return std::nullopt;
            word->push_back(text[++i]);
        } else if (c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else {
            word->push_back(c);
        }
    }
    if (quote != 0) return std::nullopt;
    if (word) words.push_back(*std::move(word));
    if (words.empty()) return std::nullopt;
    return words;
}

bool can_execute(const std::string& program) {
    if (program.find('/') != std::string::npos) return is_file_to_execute(program);
    const char* const path = std::getenv("PATH");
    std::string_view folders = path == nullptr ? "/bin:/usr/bin" : path;
    while (!folders.empty() && !program.empty()) {
        const auto folder = folders.substr(0, folders.find(':'));
        folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
        if (is_file_to_execute((std::filesystem::path{folder} / program).string())) return true;
    }
    return false;
}

}  // namespace routemaster::service
