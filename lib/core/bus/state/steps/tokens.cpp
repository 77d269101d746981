#include "core/bus/state/subscriber_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <optional>
#include <string>

namespace routemaster::detail {

template <>
Result<PutToken::Reply> SubscriberDomain::apply(PutToken& step) {
    registry_.put_token({step.token, step.name});
    return Done{};
}

template <>
Result<RemoveToken::Reply> SubscriberDomain::apply(RemoveToken& step) {
    auto* subscriber = registry_.subscriber(step.token);
    auto* token = registry_.token(step.token);
    if (subscriber == nullptr && token == nullptr) return Removal::unknown;
    if (subscriber != nullptr) remove(*subscriber);
    if (token != nullptr) registry_.remove(*token);
    return Removal::removed;
}

template <>
Result<FindToken::Reply> SubscriberDomain::apply(FindToken& step) {
    const auto* token = registry_.token(step.token);
    if (token == nullptr) return std::optional<std::string>{};
    scope_.depends_on_row = token->last_row;
    return std::optional{token->token.name};
}

template <>
Result<ListTokens::Reply> SubscriberDomain::apply(ListTokens& step) {
    return registry_.tokens(step.page);
}

Outcome SubscriberDomain::perform(TokenSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
