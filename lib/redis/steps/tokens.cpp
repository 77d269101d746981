#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/remove_subscriber.hpp"

namespace routemaster::redis {

template <>
struct StepProtocol<PutToken> {
    static Script script() { return compose(PutToken::traits, {lua::index}, lua::put_token); }
    static void request(Request& request, const PutToken& step) {
        request.on("api_tokens:by_token").add(step.token).add(step.name);
    }
    static Done reply(const ScriptReply&) { return {}; }
};

template <>
struct StepProtocol<RemoveToken> {
    static Script script() { return remove_subscriber_script(RemoveToken::traits); }
    static void request(Request& request, const RemoveToken& step) {
        request.on("subscriber:", step.token).add(step.token).add("1");
    }
    static Removal reply(const ScriptReply& reply) { return removal(reply.value); }
};

template <>
struct StepProtocol<FindToken> {
    static Script script() { return compose(FindToken::traits, {}, lua::find_token); }
    static void request(Request& request, const FindToken& step) {
        request.on("api_tokens:by_token").add(step.token);
    }
    static std::optional<std::string> reply(const ScriptReply& reply) {
        if (absent(reply.value)) return std::nullopt;
        return std::string{text(reply.value)};
    }
};

template <>
struct StepProtocol<ListTokens> {
    static constexpr std::string_view listed_names = "api_tokens:by_token";

    static Script script() { return compose(ListTokens::traits, {lua::page}, lua::list_tokens); }
    static void request(Request& request, const ListTokens& step) {
        request.on(listed_names);
        request.page(step.page);
    }
    static std::vector<ApiToken> reply(const ScriptReply& reply) {
        return list<ApiToken>(reply.value, [](const redisReply& one) {
            const auto parts = items(one, 2);
            return ApiToken{std::string{text(*parts[0])}, std::string{text(*parts[1])}};
        });
    }
};

template struct Protocols<TokenSteps>;

}  // namespace routemaster::redis
