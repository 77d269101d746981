#include "page_query.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "payload.hpp"

namespace routemaster::api {
namespace {

/// Undoes percent-encoding (RFC 3986 §2.1). Nothing when a `%` is not followed by two digits.
std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        if (text.front() != '%') {
            out.push_back(text.front());
            text.remove_prefix(1);
            continue;
        }
        const auto digits = text.substr(1, 2);
        unsigned char byte = 0;
        const auto* const end = digits.data() + digits.size();
        if (digits.size() != 2 || std::from_chars(digits.data(), end, byte, 16).ptr != end) {
            return std::nullopt;
        }
        out.push_back(static_cast<char>(byte));
        text.remove_prefix(3);
    }
    return out;
}

std::string encoded(std::string_view text) {
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

Result<void> read(PageQuery& page, std::string_view name, const std::string& value) {
    if (name == "after") page.after = value;
    if (name != "limit") return {};
    const auto* const end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, page.limit);
    if (error != std::errc{} || stopped != end || page.limit == 0 || page.limit > page_limit_max) {
        return bad("limit", "must be an integer from 1 to " + std::to_string(page_limit_max));
    }
    return {};
}

}  // namespace

Result<PageQuery> page_query(std::string_view query) {
    PageQuery page;
    while (!query.empty()) {
        const auto parameter = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), parameter.size() + 1));
        const auto name = parameter.substr(0, parameter.find('='));
        const auto value = decoded(parameter.substr(std::min(parameter.size(), name.size() + 1)));
        if (!value) return bad(name, "contains a % without two hexadecimal digits");
        if (auto done = read(page, name, *value); !done) return done.error();
    }
    return page;
}

std::string next_link(std::string_view path, std::string_view last, std::uint32_t limit) {
    return '<' + std::string{path} + "?after=" + encoded(last) + "&limit=" + std::to_string(limit) +
           ">; rel=\"next\"";
}

}  // namespace routemaster::api
