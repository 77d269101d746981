#include "percent_encoding.hpp"

#include <charconv>

namespace routemaster::detail {

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (auto escape = text.find('%'); escape != std::string_view::npos; escape = text.find('%')) {
        out += text.substr(0, escape);
        const auto digits = text.substr(escape + 1, 2);
        unsigned char byte = 0;
        const auto* const end = digits.data() + digits.size();
        if (digits.size() != 2 || std::from_chars(digits.data(), end, byte, 16).ptr != end) {
            return std::nullopt;
        }
        out += static_cast<char>(byte);
        text.remove_prefix(escape + 3);
    }
    out += text;
    return out;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                                c == '~';
        if (unreserved) {
            out.push_back(c);
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out.append({'%', digits[byte >> 4U], digits[byte & 15U]});
        }
    }
    return out;
}

}  // namespace routemaster::detail
