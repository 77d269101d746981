#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "payload.hpp"
#include "routemaster/action_timers.hpp"
#include "routes.hpp"
#include "timer_payload.hpp"

namespace routemaster::api {
namespace {

/// The action of a body. What a client may not decide is as the options say.
Result<TimerAction> action_of(const Value& payload, const HttpApiOptions& options) {
    constexpr std::array<std::string_view, 6> known{"push", "publish", "deliver",
                                                    "id",   "delay",   "at"};
    if (auto checked = check_fields(payload, known); !checked) return checked.error();
    Value::Map what;
    for (const auto kind : {"push", "publish", "deliver"}) {
        if (const auto* object = given(payload, kind)) what.emplace_back(kind, *object);
    }
    auto action = timer_action(Value{std::move(what)});
    if (!action) return action;
    if (auto* const push = std::get_if<PushAction>(&*action)) {
        push->options.bytes_max = options.job_bytes_max;
    }
    if (auto* const publish = std::get_if<PublishAction>(&*action)) {
        publish->authenticate = publish->publisher.has_value();
        publish->topics_max = options.topics_max;
    }
    return action;
}

/// The rules for its event. One for a subscriber alone may carry data and no URL; only Ruby
/// processes, whose rule for topics is stricter too, cannot do without.
PublicationOptions rules_for(const TimerAction& action, const HttpApiOptions& options) {
    PublicationOptions rules{.rules = options.event_rules,
                             .event_data_max = options.event_data_max};
    const auto* const deliver = std::get_if<DeliverAction>(&action);
    const bool has_no_url = deliver != nullptr && deliver->event.url.empty();
    if (has_no_url && rules.rules.topics == TopicRule::any) rules.rules.urls = UrlRule::any;
    return rules;
}

}  // namespace

void post_action(Exchange& exchange) {
    const auto payload = json_object(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    const auto action = action_of(*payload, exchange.options());
    if (!action) return exchange.refuse(action.error());
    if (auto checked = ActionTimers::check(*action, rules_for(*action, exchange.options()));
        !checked) {
        return exchange.refuse(checked.error());
    }
    const auto due = timer_due(*payload, false);
    if (!due) return exchange.refuse(due.error());
    auto id = optional_text(*payload, "id");
    if (!id) return exchange.refuse(id.error());
    if (*id && (*id)->empty()) return exchange.refuse(bad("id", "must not be empty"));
    auto done = exchange.then([](Exchange& posting, const PostedTimer& posted) {
        std::string json;
        append_posted(json, posted);
        posting.answer_json(200, std::move(json));
    });
    auto actions = exchange.actions();
    if (due->at) return actions.post(*action, *due->at, id->value_or(""), std::move(done));
    actions.post(*action, due->delay, id->value_or(""), std::move(done));
}

}  // namespace routemaster::api
