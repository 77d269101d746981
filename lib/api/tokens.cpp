#include <sys/random.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/names.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

constexpr std::size_t token_random_bytes = 16;

constexpr std::size_t token_owner_length_max = name_length_max - 2 - 2 * token_random_bytes;

/// Generates a random token for `owner`: `OWNER--` and 32 hexadecimal digits. `unavailable` if the
/// operating system has no random numbers.
Result<std::string> fresh_token(std::string_view owner) {
    std::array<unsigned char, token_random_bytes> bytes{};
    ssize_t got = 0;
    do {
        // `getrandom` never returns so few bytes partially. A signal can interrupt the call only
        // while the system has too little entropy after booting.
        got = getrandom(bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(bytes.size())) {
        return Error{Errc::unavailable, "no randomness for a token"};
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string token{owner};
    token += "--";
    for (const auto byte : bytes) token.append({digits[byte >> 4U], digits[byte & 15U]});
    return token;
}

Result<std::string> user_name_of(const Value& payload, std::string_view field) {
    const auto* value = given(payload, field);
    const auto* name = value == nullptr ? nullptr : value->get_if<std::string>();
    if (name == nullptr) return bad(field, "requires a string");
    if (!is_user_name(*name)) {
        return bad(field,
                   "contains invalid characters, or is not 1 to 64 of them: "
                   "a-z, 0-9, :, _ and -");
    }
    return *name;
}

/// Returns the token in the payload, or a new token. A token must not contain a colon, because a
/// colon ends the user name in HTTP Basic.
Result<std::string> token_of(const Value& payload, const std::string& name) {
    if (asked_for(payload, "token") != nullptr) {
        auto token = user_name_of(payload, "token");
        if (token && token->find(':') != std::string::npos) {
            return bad(
                "token",
                "contains invalid characters: ':' is not allowed in an HTTP Basic user name");
        }
        return token;
    }
    if (name.size() > token_owner_length_max) {
        return bad("name", "must be at most " + std::to_string(token_owner_length_max) +
                               " characters if no token is given");
    }
    if (name.find(':') != std::string::npos) {
        return bad("name", "contains invalid characters: ':' is not allowed if no token is given");
    }
    return fresh_token(name);
}

Result<ApiToken> token_payload(std::string_view body) {
    const auto payload = json_object(body);
    if (!payload) return payload.error();
    auto name = user_name_of(*payload, "name");
    if (!name) return name.error();
    auto token = token_of(*payload, *name);
    if (!token) return token.error();
    return ApiToken{.token = std::move(*token), .name = std::move(*name)};
}

void append_token(std::string& json, const ApiToken& token, const Caller&) {
    json.append(R"({"name":)");
    append_json_text(json, token.name);
    json.append(R"(,"token":)");
    append_json_text(json, token.token);
    json.append("}");
}

}  // namespace

void list_tokens(Exchange& exchange) {
    list_page<ApiToken>(
        exchange, Keys::open,
        [](Exchange& asking, Page page, auto done) {
            asking.tokens().list(std::move(page), std::move(done));
        },
        [](const ApiToken& token) -> const std::string& { return token.token; }, append_token);
}

void add_token(Exchange& exchange) {
    auto token = token_payload(exchange.request().body);
    if (!token) return exchange.refuse(token.error());
    std::string json = R"({"token":)";
    append_json_text(json, token->token);
    json.append(R"(,"name":)");
    append_json_text(json, token->name);
    json.append("}");
    exchange.tokens().put(
        std::move(*token),
        exchange.then([json = std::move(json)](Exchange& done) { done.answer_json(201, json); }));
}

void remove_token(Exchange& exchange) {
    exchange.tokens().remove(exchange.last_segment(),
                             exchange.then([](Exchange& done, Removal) { done.answer(204); }));
}

}  // namespace routemaster::api
