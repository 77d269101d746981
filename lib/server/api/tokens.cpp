#include <string>
#include <string_view>
#include <utility>

#include "fresh_token.hpp"
#include "handlers.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/names.hpp"

namespace routemaster::api {
namespace {

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

/// A token is presented as a user name, which a colon would end.
Result<std::string> token_of(const Value& payload, const std::string& name) {
    if (asked_for(payload, "token") != nullptr) {
        auto token = user_name_of(payload, "token");
        if (token && token->find(':') != std::string::npos) {
            return bad("token", "contains invalid characters: ':' ends a user name");
        }
        return token;
    }
    if (name.size() > token_owner_length_max) {
        return bad("name", "must be at most " + std::to_string(token_owner_length_max) +
                               " characters where the token is generated");
    }
    if (name.find(':') != std::string::npos) {
        return bad("name", "contains invalid characters: ':' where the token is generated");
    }
    return fresh_token(name);
}

Result<PutToken> token_payload(std::string_view body) {
    const auto payload = json_object(body);
    if (!payload) return payload.error();
    auto name = user_name_of(*payload, "name");
    if (!name) return name.error();
    auto token = token_of(*payload, *name);
    if (!token) return token.error();
    return PutToken{.token = std::move(*token), .name = std::move(*name)};
}

void append_token(std::string& json, const ApiToken& token, const Caller&) {
    json.append(R"({"name":)");
    append_json_text(json, token.name);
    json.append(R"(,"token":)");
    append_json_text(json, token.token);
    json.append("}");
}

}  // namespace

void list_tokens(Call& call) {
    tell_page<ListTokens>(
        call, [](const ApiToken& token) -> const std::string& { return token.token; },
        append_token);
}

void add_token(Call& call) {
    auto step = token_payload(call.request().body);
    if (!step) return call.refuse(step.error());
    std::string json = R"({"token":)";
    append_json_text(json, step->token);
    json.append(R"(,"name":)");
    append_json_text(json, step->name);
    json.append("}");
    call.perform(std::move(*step), call.now(),
                 [json = std::move(json)](Call& done, Done) { done.answer_json(201, json); });
}

void remove_token(Call& call) {
    call.perform(RemoveToken{call.last_segment()}, call.now(),
                 [](Call& done, Removal) { done.answer(204); });
}

}  // namespace routemaster::api
