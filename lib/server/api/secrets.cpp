#include "secrets.hpp"

#include "routemaster/callbacks.hpp"
#include "routemaster/public_part.hpp"

namespace routemaster::api {

bool may_see_all(const Caller& caller, std::string_view token) noexcept {
    return caller.kind == Caller::Kind::root ||
           (caller.kind == Caller::Kind::client && caller.token == token);
}

std::string_view shown_token(std::string_view token) noexcept {
    const auto name = public_name(token);
    return name.empty() ? withheld : name;
}

std::string shown_callback(std::string_view callback) {
    constexpr std::string_view mark = "://";
    const auto scheme = callback.find(mark);
    if (callback.starts_with(local_scheme)) {
        const auto token = callback.substr(local_scheme.size());
        return std::string{local_scheme}.append(shown_token(token));
    }
    if (scheme == std::string_view::npos) return std::string{withheld};
    const auto tail = callback.find_first_of("/?#\\", scheme + mark.size());
    const bool bare = tail == std::string_view::npos || callback.substr(tail) == "/";
    auto shown = public_url(callback);
    if (!bare) shown.append("/").append(withheld);
    return shown;
}

}  // namespace routemaster::api
