#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "action_payload.hpp"
#include "payload.hpp"
#include "routemaster/action_timers.hpp"
#include "routes.hpp"
#include "timer_payload.hpp"

namespace routemaster::api {
namespace {

/// Parses an action in a body that also contains fields of the timer.
Result<TimerAction> action_of(const Value& payload, const HttpApiOptions& options) {
    constexpr std::array<std::string_view, 6> known{"push", "publish", "deliver",
                                                    "id",   "delay",   "at"};
    if (auto checked = check_fields(payload, known); !checked) return checked.error();
    Value::Map what;
    for (const auto kind : {"push", "publish", "deliver"}) {
        if (const auto* object = given(payload, kind)) what.emplace_back(kind, *object);
    }
    return client_action(Value{std::move(what)}, options);
}

}  // namespace

void post_action(Exchange& exchange) {
    const auto payload = json_object(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    const auto action = action_of(*payload, exchange.options());
    if (!action) return exchange.refuse(action.error());
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
