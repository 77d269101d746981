#include "secrets.hpp"

namespace routemaster::api {

bool may_see_all(const Caller& caller, std::string_view token) noexcept {
    return caller.kind == Caller::Kind::root ||
           (caller.kind == Caller::Kind::client && caller.token == token);
}

std::string_view public_part(std::string_view token) noexcept {
    const auto end = token.find("--");
    return end == std::string_view::npos || end == 0 ? withheld : token.substr(0, end);
}

std::string public_callback(std::string_view callback) {
    constexpr std::string_view mark = "://";
    const auto scheme_end = callback.find(mark);
    if (scheme_end == std::string_view::npos) {
        return std::string{callback.starts_with("local:") ? callback : withheld};
    }
    const auto scheme = callback.substr(0, scheme_end + mark.size());
    const auto rest = callback.substr(scheme.size());
    auto authority = rest.substr(0, rest.find_first_of("/?#"));
    const bool bare = authority == rest || rest.substr(authority.size()) == "/";
    authority.remove_prefix(authority.rfind('@') + 1);
    std::string shown{scheme};
    shown += authority;
    if (!bare) shown.append("/").append(withheld);
    return shown;
}

}  // namespace routemaster::api
