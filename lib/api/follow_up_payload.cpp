#include "follow_up_payload.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/event_fields.hpp"
#include "core/codec/job_push.hpp"
#include "payload.hpp"
#include "routemaster/names.hpp"
#include "routemaster/timer_action.hpp"
#include "timer_payload.hpp"

namespace routemaster::api {
namespace {

Result<void> add_push(FollowUps& all, const Value& payload, const HttpApiOptions& options,
                      TimePoint now) {
    auto pushed = detail::queued_push(payload);
    if (!pushed) return pushed.error();
    auto& push = pushed->push;
    push.options.bytes_max = options.job_bytes_max;
    return all.push(pushed->queue, push.job, push.options, now);
}

Result<void> add_publication(FollowUps& all, const Value& payload, const HttpApiOptions& options,
                             TimePoint now) {
    constexpr std::array<std::string_view, 6> known{"topic",     "type", "url",
                                                    "timestamp", "data", "publisher"};
    if (payload.get_if<Value::Map>() == nullptr) return bad("event", "must be an object");
    if (auto checked = check_fields(payload, known); !checked) return checked;
    auto topic = required_text(payload, "topic");
    if (!topic) return topic.error();
    auto event = detail::read_event(*std::move(topic), payload);
    if (!event) return event.error();
    PublicationOptions publication{.rules = options.event_rules,
                                   .event_data_max = options.event_data_max,
                                   .topics_max = options.topics_max};
    auto publisher = optional_text(payload, "publisher");
    if (!publisher) return publisher.error();
    publication.publisher = *std::move(publisher);
    publication.authenticate = publication.publisher.has_value();
    return all.publish(*event, publication, now);
}

Result<void> add_timer(FollowUps& all, const Value& payload, TimePoint now) {
    const auto* fields = payload.get_if<Value::Map>();
    if (fields == nullptr) return bad("timer", "must be an object");
    const auto space = required_text(payload, "namespace");
    if (!space) return space.error();
    if (*space == action_space) {
        return bad("namespace", "is reserved for actions; post to /v1/actions");
    }
    auto others = *fields;
    std::erase_if(others, [](const auto& field) { return field.first == "namespace"; });
    auto post = timer_post(Value{std::move(others)});
    if (!post) return post.error();
    const auto at = post->at.value_or(due_after(post->delay, now));
    return without_value(all.post(*space, post->payload, at, std::move(post->options)));
}

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
