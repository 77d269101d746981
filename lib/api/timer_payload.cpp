#include "timer_payload.hpp"

#include <array>
#include <cstdint>

#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/timer.hpp"

namespace routemaster::api {

Result<TimerDue> timer_due(const Value& payload, bool required) {
    const auto delay = span_of(payload, "delay");
    if (!delay) return delay.error();
    const auto at = due_time_of(payload, "at");
    if (!at) return at.error();
    if (*delay && *at) return bad("at", "cannot be combined with delay");
    if (required && !*delay && !*at) return bad("delay", "is missing");
    return TimerDue{.delay = delay->value_or(Duration{0}), .at = *at};
}

void append_posted(std::string& json, const PostedTimer& posted) {
    json.append(R"({"id":)");
    append_json_text(json, posted.id);
    json.append(R"(,"outcome":")");
    json.append(posted.outcome == TimerPosted::replaced ? "replaced" : "posted").append(R"("})");
}

Result<TimerPost> timer_post(const Value& payload) {
    constexpr std::array<std::string_view, 6> known{"payload", "delay",       "at",
                                                    "id",      "retries_max", "confirm_within"};
    if (payload.get_if<Value::Map>() == nullptr) return bad("JSON", "must be an object");
    if (auto checked = check_fields(payload, known); !checked) return checked.error();
    TimerPost post;
    const auto* value = payload.find("payload");
    if (value == nullptr) return bad("payload", "is missing");
    post.payload = *value;
    const auto due = timer_due(payload, false);
    if (!due) return due.error();
    post.delay = due->delay;
    post.at = due->at;
    auto id = optional_text(payload, "id");
    if (!id) return id.error();
    if (*id && (*id)->empty()) return bad("id", "must not be empty");
    post.options.id = id->value_or("");
    const auto retries = integer_of(payload, "retries_max", 0, timer_retries_max);
    if (!retries) return retries.error();
    post.options.retries_max = static_cast<std::uint32_t>(retries->value_or(0));
    const auto within = integer_of(payload, "confirm_within", 0, timer_confirm_max.count());
    if (!within) return within.error();
    post.options.confirm_within = Duration{within->value_or(0)};
    return post;
}

}  // namespace routemaster::api
