#include "core/state/machine.hpp"

#include <optional>
#include <string>

namespace routemaster::detail {

Result<PutToken::Reply> Machine::apply(PutToken& step) {
    registry_.put_token({step.token, step.name});
    return Done{};
}

Result<RemoveToken::Reply> Machine::apply(RemoveToken& step) {
    auto* subscriber = registry_.subscriber(step.token);
    auto* token = registry_.token(step.token);
    if (subscriber == nullptr && token == nullptr) return Removal::unknown;
    if (subscriber != nullptr) remove(*subscriber);
    if (token != nullptr) registry_.remove(*token);
    return Removal::removed;
}

Result<FindToken::Reply> Machine::apply(FindToken& step) {
    const auto* token = registry_.token(step.token);
    if (token == nullptr) return std::optional<std::string>{};
    depends_on_row_ = token->last_row;
    return std::optional{token->token.name};
}

Result<ListTokens::Reply> Machine::apply(ListTokens& step) { return registry_.tokens(step.page); }

}  // namespace routemaster::detail
