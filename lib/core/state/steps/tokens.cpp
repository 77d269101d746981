#include "core/state/machine.hpp"

#include <optional>
#include <string>

namespace routemaster::detail {

Result<PutToken::Reply> Machine::apply(PutToken& step) {
    directory_.put_token({step.token, step.name});
    return Done{};
}

Result<RemoveToken::Reply> Machine::apply(RemoveToken& step) {
    auto* subscriber = directory_.subscriber(step.token);
    auto* token = directory_.token(step.token);
    if (subscriber == nullptr && token == nullptr) return Removal::unknown;
    if (subscriber != nullptr) remove(*subscriber);
    if (token != nullptr) directory_.remove(*token);
    return Removal::removed;
}

Result<FindToken::Reply> Machine::apply(FindToken& step) {
    const auto* token = directory_.token(step.token);
    if (token == nullptr) return std::optional<std::string>{};
    reveals_ = token->last_row;
    return std::optional{token->token.name};
}

Result<ListTokens::Reply> Machine::apply(ListTokens& step) { return directory_.tokens(step.page); }

}  // namespace routemaster::detail
