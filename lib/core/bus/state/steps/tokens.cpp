#include "core/state/machine.hpp"

#include <optional>
#include <string>

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<PutToken::Reply> Machine::apply(PutToken& step) {
    registry_.put_token({step.token, step.name});
    return Done{};
}

template <>
Result<RemoveToken::Reply> Machine::apply(RemoveToken& step) {
    auto* subscriber = registry_.subscriber(step.token);
    auto* token = registry_.token(step.token);
    if (subscriber == nullptr && token == nullptr) return Removal::unknown;
    if (subscriber != nullptr) remove(*subscriber);
    if (token != nullptr) registry_.remove(*token);
    return Removal::removed;
}

template <>
Result<FindToken::Reply> Machine::apply(FindToken& step) {
    const auto* token = registry_.token(step.token);
    if (token == nullptr) return std::optional<std::string>{};
    depends_on_row_ = token->last_row;
    return std::optional{token->token.name};
}

template <>
Result<ListTokens::Reply> Machine::apply(ListTokens& step) {
    return registry_.tokens(step.page);
}

Outcome Machine::perform_in(TokenSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
