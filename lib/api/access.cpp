#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/names.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

constexpr std::uint8_t no_digit = 64;

constexpr auto digit_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    std::uint8_t value = 0;
    for (const char c :
         std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"}) {
        values[static_cast<unsigned char>(c)] = value++;
    }
    return values;
}();

/// Decodes Base64, with or without padding.
std::optional<std::string> decoded_base64(std::string_view text) {
    while (text.ends_with('=')) text.remove_suffix(1);
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const auto value = digit_values[static_cast<unsigned char>(c)];
        if (value == no_digit) return std::nullopt;
        bits = (bits << 6U) | value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<char>((bits >> count) & 0xffU));
        }
    }
    return bytes;
}

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool begins_with_scheme(std::string_view header, std::string_view scheme) noexcept {
    if (header.size() < scheme.size()) return false;
    for (std::size_t i = 0; i < scheme.size(); ++i) {
        if (lower(header[i]) != scheme[i]) return false;
    }
    return true;
}

/// Returns the user name in an `Authorization` header of HTTP Basic (RFC 7617): the text before the
/// first colon. Returns nothing if the header has another scheme, is not Base64, or has no colon.
std::optional<std::string> basic_user(std::string_view authorization) {
    constexpr std::string_view scheme = "basic ";
    if (!begins_with_scheme(authorization, scheme)) return std::nullopt;
    authorization.remove_prefix(scheme.size());
    while (authorization.starts_with(' ')) authorization.remove_prefix(1);
    while (authorization.ends_with(' ')) authorization.remove_suffix(1);
    auto user = decoded_base64(authorization);
    const auto colon = user ? user->find(':') : std::string::npos;
    if (colon == std::string::npos) return std::nullopt;
    user->resize(colon);
    return user;
}

/// Compares a credential in constant time, so that the duration does not reveal the position of the
/// first difference. `secret` must not be empty.
bool is_secret(std::string_view secret, std::string_view given) noexcept {
    // Volatile, because a compiler might otherwise stop at the first difference.
    volatile unsigned difference = secret.size() == given.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto a = static_cast<unsigned char>(given[i]);
        const auto b = static_cast<unsigned char>(secret[i % secret.size()]);
        difference = difference | static_cast<unsigned>(a ^ b);
    }
    return difference == 0;
}

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

}  // namespace

void turn_away(Exchange& exchange, Access access) {
    exchange.answer_with(
        {401,
         "this endpoint requires authentication with " + std::string{wanted(access)},
         "text/plain;charset=utf-8",
         {{"WWW-Authenticate", "Basic"}}});
}

void check_token(Exchange& exchange, Access access, std::function<void(Exchange&)> next) {
    exchange.tokens().find(
        exchange.caller().token,
        exchange.then([access, next = std::move(next)](Exchange& found,
                                                       const std::optional<std::string>& name) {
            name ? next(found) : turn_away(found, access);
        }));
}

void authorize(Exchange& exchange, Access access, TokenCheck check, Handler handler) {
    if (access == Access::open) {
        return exchange.request().has_authorization ? turn_away(exchange, access)
                                                    : handler(exchange);
    }
    auto user = basic_user(exchange.request().authorization);
    if (user && takes_root(access) && is_secret(exchange.options().root_key, *user)) {
        exchange.identify({Caller::Kind::root, std::move(*user)});
        return handler(exchange);
    }
    // Every token is a valid user name, so an invalid user name needs no lookup.
    if (!user || !takes_clients(access) || !is_user_name(*user)) return turn_away(exchange, access);
    exchange.identify({Caller::Kind::client, std::move(*user)});
    check == TokenCheck::within ? handler(exchange) : check_token(exchange, access, handler);
}

}  // namespace routemaster::api
