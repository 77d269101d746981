#include "routemaster/public_part.hpp"

#include <cstddef>

namespace routemaster {

std::string public_part(std::string_view token) {
    constexpr std::size_t shown = 4;
    if (const auto name = public_name(token); !name.empty()) return std::string{name};
    return std::string{token.size() > shown ? token.substr(0, shown) : std::string_view{}} + "…";
}

std::string public_url(std::string_view url) {
    constexpr std::string_view mark = "://";
    const auto scheme = url.find(mark);
    if (scheme == std::string_view::npos) {
        const auto colon = url.find(':');
        if (colon == std::string_view::npos) return "…";
        return std::string{url.substr(0, colon + 1)} + public_part(url.substr(colon + 1));
    }
    auto authority = url.substr(scheme + mark.size());
    authority = authority.substr(0, authority.find_first_of("/?#\\"));
    authority.remove_prefix(authority.rfind('@') + 1);
    return std::string{url.substr(0, scheme + mark.size())} + std::string{authority};
}

std::string without_password(std::string_view url) {
    constexpr std::string_view mark = "://";
    const auto scheme = url.find(mark);
    const auto at = url.rfind('@');
    if (scheme == std::string_view::npos || at == std::string_view::npos || at < scheme) {
        return std::string{url};
    }
    return std::string{url.substr(0, scheme + mark.size())} + "***" + std::string{url.substr(at)};
}

}  // namespace routemaster
