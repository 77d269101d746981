#include "follow_up_payload.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "event_payload.hpp"
#include "job_payload.hpp"
#include "payload.hpp"
#include "routemaster/names.hpp"
#include "routemaster/timer_action.hpp"
#include "timer_payload.hpp"

namespace routemaster::api {
namespace {

/// The text of a field that must be there.
Result<std::string> text_of(const Value& payload, std::string_view field) {
    const auto* value = given(payload, field);
    if (value == nullptr) return bad(field, "is missing");
    const auto* text = value->get_if<std::string>();
    if (text == nullptr) return bad(field, "requires a string");
    return *text;
}

Result<void> add_push(FollowUps& all, const Value& payload, const HttpApiOptions& options,
                      TimePoint now) {
    const auto* fields = payload.get_if<Value::Map>();
    if (fields == nullptr) return bad("job", "must be an object");
    const auto queue = text_of(payload, "queue");
    if (!queue) return queue.error();
    auto others = *fields;
    std::erase_if(others, [](const auto& field) { return field.first == "queue"; });
    auto push = job_push(Value{std::move(others)});
    if (!push) return push.error();
    push->options.bytes_max = options.job_bytes_max;
    return all.push(*queue, push->job, push->options, now);
}

Result<void> add_publication(FollowUps& all, const Value& payload, const HttpApiOptions& options,
                             TimePoint now) {
    constexpr std::array<std::string_view, 6> known{"topic",     "type", "url",
                                                    "timestamp", "data", "publisher"};
    if (payload.get_if<Value::Map>() == nullptr) return bad("event", "must be an object");
    if (auto checked = check_fields(payload, known); !checked) return checked;
    auto topic = text_of(payload, "topic");
    if (!topic) return topic.error();
    auto event = read_event(*std::move(topic), payload);
    if (!event) return event.error();
    PublicationOptions publication{.rules = options.event_rules,
                                   .event_data_max = options.event_data_max,
                                   .topics_max = options.topics_max};
    if (given(payload, "publisher") != nullptr) {
        auto publisher = text_of(payload, "publisher");
        if (!publisher) return publisher.error();
        publication.publisher = *std::move(publisher);
        publication.authenticate = true;
    }
    return all.publish(*event, publication, now);
}

Result<void> add_timer(FollowUps& all, const Value& payload, TimePoint now) {
    const auto* fields = payload.get_if<Value::Map>();
    if (fields == nullptr) return bad("timer", "must be an object");
    const auto space = text_of(payload, "namespace");
    if (!space) return space.error();
    if (*space == action_space) {
        return bad("namespace", "is that of actions; post to /v1/actions");
    }
    auto others = *fields;
    std::erase_if(others, [](const auto& field) { return field.first == "namespace"; });
    auto post = timer_post(Value{std::move(others)});
    if (!post) return post.error();
    const auto at = post->at.value_or(timer_due_after(post->delay, now));
    return without_value(all.post(*space, post->payload, at, std::move(post->options)));
}

/// Adds each of a list by `add(payload)`.
template <class Add>
Result<void> add_list(const Value& payload, std::string_view field, Add add) {
    const auto* value = given(payload, field);
    if (value == nullptr) return {};
    const auto* list = value->get_if<Value::Array>();
    if (list == nullptr) return bad(field, "must be an array");
    for (std::size_t i = 0; i < list->size(); ++i) {
        if (auto added = add((*list)[i]); !added) {
            return headed(std::string{field} + "[" + std::to_string(i) + "]", added.error());
        }
    }
    return {};
}

}  // namespace

Result<FollowUps> follow_ups(const Value& payload, const HttpApiOptions& options, TimePoint now) {
    FollowUps all;
    auto added = add_list(payload, "pushes",
                          [&](const Value& push) { return add_push(all, push, options, now); });
    if (!added) return added.error();
    added = add_list(payload, "publications", [&](const Value& publication) {
        return add_publication(all, publication, options, now);
    });
    if (!added) return added.error();
    added =
        add_list(payload, "timers", [&](const Value& timer) { return add_timer(all, timer, now); });
    if (!added) return added.error();
    return all;
}

void refuse_completion(Exchange& exchange, const Error& error) {
    const auto& code = error.code();
    if (code == Errc::unauthenticated || code == Errc::limit_exceeded) {
        return exchange.answer_text(403, error.context());
    }
    exchange.refuse(error);
}

}  // namespace routemaster::api
