/// @file
/// The secrets of tests with running programs, and a search for secrets in logs.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace routemaster::test {

/// A part of all secrets that tests make up.
inline constexpr std::string_view secret_mark = "5ecret";

namespace secrets {

/// Whether `text` contains `word` as a whole word, not as a part of a longer word or of a host
/// name.
inline bool has_word(std::string_view text, std::string_view word) {
    const auto is_part = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
    };
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const auto end = at + word.size();
        const bool begins = at == 0 || !is_part(text[at - 1]);
        if (begins && (end == text.size() || !is_part(text[end]))) return true;
    }
    return false;
}

}  // namespace secrets

/// The first secret in a log: a text with `secret_mark`, the path of a callback, or one of
/// `tokens`. `tokens` must have no public part. Empty when the log has no secret.
inline std::string secret_in(std::string_view log, const std::vector<std::string>& tokens = {}) {
    if (log.find(secret_mark) != std::string_view::npos) return std::string{secret_mark};
    if (secrets::has_word(log, "/events")) return "/events";
    for (const auto& token : tokens) {
        if (secrets::has_word(log, token)) return token;
    }
    return {};
}

}  // namespace routemaster::test
