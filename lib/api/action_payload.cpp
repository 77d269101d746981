#include "action_payload.hpp"

#include <variant>

#include "routemaster/action_timers.hpp"

namespace routemaster::api {
namespace {

/// Returns the validation rules for the event of an action. The event of a `deliver` action may
/// have data instead of a URL. With the topic rule `ruby` this is not allowed, because Ruby
/// processes, which require a URL, may read the event.
PublicationOptions rules_for(const TimerAction& action, const HttpApiOptions& options) {
    PublicationOptions rules{.rules = options.event_rules,
                             .event_data_max = options.event_data_max};
    const auto* const deliver = std::get_if<DeliverAction>(&action);
    const bool has_no_url = deliver != nullptr && deliver->event.url.empty();
    if (has_no_url && rules.rules.topics == TopicRule::any) rules.rules.urls = UrlRule::any;
    return rules;
}

}  // namespace

Result<TimerAction> client_action(const Value& payload, const HttpApiOptions& options) {
    auto action = timer_action(payload);
    if (!action) return action;
    if (auto* const push = std::get_if<PushAction>(&*action)) {
        push->options.bytes_max = options.job_bytes_max;
    }
    if (auto* const publish = std::get_if<PublishAction>(&*action)) {
        publish->authenticate = publish->publisher.has_value();
        publish->topics_max = options.topics_max;
    }
    if (auto checked = ActionTimers::check(*action, rules_for(*action, options)); !checked) {
        return checked.error();
    }
    return action;
}

}  // namespace routemaster::api
