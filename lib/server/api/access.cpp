#include "access.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "credentials.hpp"
#include "routemaster/names.hpp"

namespace routemaster::api {
namespace {

bool takes_root(Access access) noexcept {
    return access == Access::root || access == Access::client_or_root ||
           access == Access::root_or_client;
}

bool takes_clients(Access access) noexcept {
    return access == Access::client || access == Access::client_or_root ||
           access == Access::root_or_client;
}

std::string_view wanted(Access access) noexcept {
    switch (access) {
        case Access::open: return "no token";
        case Access::client: return "a client token";
        case Access::root: return "a root token";
        case Access::client_or_root: return "a client token, or a root token";
        case Access::root_or_client: return "a root token, or a client token";
    }
    return "?";
}

void turn_away(Call& call, Access access) {
    call.answer_with({401,
                      "this endpoint requires authentication with " + std::string{wanted(access)},
                      "text/plain;charset=utf-8",
                      {{"WWW-Authenticate", "Basic"}}});
}

}  // namespace

void admit(Call& call, Access access, Handler handler) {
    if (access == Access::open) {
        return call.request().has_authorization ? turn_away(call, access) : handler(call);
    }
    auto user = basic_user(call.request().authorization);
    if (user && takes_root(access) && is_secret(call.options().root_key, *user)) {
        call.identify({Caller::Kind::root, std::move(*user)});
        return handler(call);
    }
    // What cannot be a token need not be looked for.
    if (!user || !takes_clients(access) || !is_user_name(*user)) return turn_away(call, access);
    FindToken known{*user};
    call.identify({Caller::Kind::client, std::move(*user)});
    call.perform(std::move(known), call.now(),
                 [access, handler](Call& found, const std::optional<std::string>& name) {
                     name ? handler(found) : turn_away(found, access);
                 });
}

}  // namespace routemaster::api
