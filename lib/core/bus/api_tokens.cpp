#include "routemaster/api_tokens.hpp"

#include <utility>

#include "routemaster/store/perform.hpp"

namespace routemaster {

Result<void> ApiTokens::put(ApiToken token) const {
    PutToken step{std::move(token.token), std::move(token.name)};
    return without_value(perform(store_, std::move(step), clock_.now()));
}

void ApiTokens::put(ApiToken token, std::function<void(Result<void>)> done) const {
    PutToken step{std::move(token.token), std::move(token.name)};
    submit(store_, std::move(step), clock_.now(),
           [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

Result<Removal> ApiTokens::remove(std::string token) const {
    return perform(store_, RemoveToken{std::move(token)}, clock_.now());
}

void ApiTokens::remove(std::string token, std::function<void(Result<Removal>)> done) const {
    submit(store_, RemoveToken{std::move(token)}, clock_.now(), std::move(done));
}

Result<std::optional<std::string>> ApiTokens::find(std::string token) const {
    return perform(store_, FindToken{std::move(token)}, clock_.now());
}

void ApiTokens::find(std::string token,
                     std::function<void(Result<std::optional<std::string>>)> done) const {
    submit(store_, FindToken{std::move(token)}, clock_.now(), std::move(done));
}

Result<std::vector<ApiToken>> ApiTokens::list(Page page) const {
    return perform(store_, ListTokens{std::move(page)}, clock_.now());
}

void ApiTokens::list(Page page, std::function<void(Result<std::vector<ApiToken>>)> done) const {
    submit(store_, ListTokens{std::move(page)}, clock_.now(), std::move(done));
}

}  // namespace routemaster
