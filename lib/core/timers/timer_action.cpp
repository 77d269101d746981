#include "routemaster/timer_action.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "core/codec/event_fields.hpp"
#include "core/codec/job_push.hpp"
#include "core/codec/object_fields.hpp"
#include "routemaster/error.hpp"

namespace routemaster {
namespace {

constexpr std::array<std::string_view, 3> scope_words{"until_done", "until_started", "for_time"};
constexpr std::array<std::string_view, 3> duplicate_words{"keep", "replace", "debounce"};

// --- Writing ------------------------------------------------------------------------------------

/// Adds a field unless its value is the default `otherwise`.
template <class T>
void add_unless(Value::Map& map, const char* name, const T& value, const T& otherwise) {
    if (value != otherwise) map.emplace_back(name, value);
}

void add_unique(Value::Map& map, const Unique& unique) {
    if (unique.by == Unique::By::job) return;
    if (unique.by == Unique::By::nothing) {
        map.emplace_back("unique", false);
        return;
    }
    Value::Map fields;
    fields.emplace_back("key", unique.key);
    fields.emplace_back("scope", scope_words.at(static_cast<std::size_t>(unique.scope)));
    add_unless(fields, "time", unique.time.count(), Duration::rep{0});
    fields.emplace_back("on_duplicate",
                        duplicate_words.at(static_cast<std::size_t>(unique.on_duplicate)));
    map.emplace_back("unique", std::move(fields));
}

Value::Map fields_of(const PushAction& action) {
    const PushOptions usual;
    const auto& options = action.options;
    Value::Map map;
    map.emplace_back("queue", action.queue);
    map.emplace_back("name", action.job.name);
    if (!action.job.arguments.empty()) map.emplace_back("arguments", action.job.arguments);
    add_unless(map, "delay", options.delay.count(), usual.delay.count());
    if (options.run_at) map.emplace_back("run_at", to_milliseconds(*options.run_at));
    add_unless(map, "attempts_max", options.attempts_max, usual.attempts_max);
    add_unless(map, "priority", options.priority, usual.priority);
    add_unless(map, "timeout", options.timeout.count(), usual.timeout.count());
    add_unless(map, "expires", options.expires.count(), usual.expires.count());
    add_unique(map, options.unique);
    if (!options.metadata.empty()) {
        Value::Map metadata;
        for (const auto& [name, text] : options.metadata) metadata.emplace_back(name, text);
        map.emplace_back("metadata", std::move(metadata));
    }
    add_unless(map, "group", options.group, usual.group);
    add_unless(map, "concurrency", options.concurrency, usual.concurrency);
    add_unless(map, "batch", options.batch, usual.batch);
    return map;
}

void add_event(Value::Map& map, const Event& event) {
    const EventType type = event.type;
    map.emplace_back("topic", event.topic);
    map.emplace_back("type", to_string(type));
    add_unless(map, "url", event.url, std::string{});
    if (event.timestamp) map.emplace_back("timestamp", to_milliseconds(*event.timestamp));
    if (event.data) map.emplace_back("data", *event.data);
}

Value::Map fields_of(const PublishAction& action) {
    Value::Map map;
    add_event(map, action.event);
    if (action.publisher) map.emplace_back("publisher", *action.publisher);
    add_unless(map, "authenticate", action.authenticate, false);
    add_unless(map, "topics_max", action.topics_max, UINT32_MAX);
    return map;
}

Value::Map fields_of(const DeliverAction& action) {
    Value::Map map;
    map.emplace_back("subscriber", action.subscriber);
    add_event(map, action.event);
    return map;
}

// --- Reading ------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 8> publish_fields{
    "topic", "type", "url", "timestamp", "data", "publisher", "authenticate", "topics_max"};
constexpr std::array<std::string_view, 6> deliver_fields{"subscriber", "topic",     "type",
                                                         "url",        "timestamp", "data"};

Result<TimerAction> read_push(const Value& object) {
    auto pushed = detail::queued_push(object);
    if (!pushed) return pushed.error();
    auto& push = pushed->push;
    if (!push.options.after.empty()) return detail::bad("after", "is not allowed in an action");
    return TimerAction{PushAction{.queue = std::move(pushed->queue),
                                  .job = std::move(push.job),
                                  .options = std::move(push.options)}};
}

Result<TimerAction> read_publish(const Value& object) {
    if (auto known = detail::check_fields(object, publish_fields); !known) return known.error();
    auto topic = detail::required_text(object, "topic");
    if (!topic) return topic.error();
    auto event = detail::read_event(*std::move(topic), object);
    if (!event) return event.error();
    auto publisher = detail::optional_text(object, "publisher");
    if (!publisher) return publisher.error();
    const auto authenticate = detail::truth_of(object, "authenticate", false);
    if (!authenticate) return authenticate.error();
    const auto topics = detail::integer_of(object, "topics_max", 0, UINT32_MAX);
    if (!topics) return topics.error();
    return TimerAction{
        PublishAction{.event = *std::move(event),
                      .publisher = *std::move(publisher),
                      .authenticate = *authenticate,
                      .topics_max = static_cast<std::uint32_t>(topics->value_or(UINT32_MAX))}};
}

Result<TimerAction> read_deliver(const Value& object) {
    if (auto known = detail::check_fields(object, deliver_fields); !known) return known.error();
    auto subscriber = detail::required_text(object, "subscriber");
    if (!subscriber) return subscriber.error();
    const auto topic = detail::optional_text(object, "topic");
    if (!topic) return topic.error();
    auto event =
        detail::read_event(topic->value_or(std::string{action_topic}), object, EventType::noop);
    if (!event) return event.error();
    return TimerAction{
        DeliverAction{.subscriber = *std::move(subscriber), .event = *std::move(event)}};
}

/// Parses an object with `read`. Errors name the action.
template <class Read>
Result<TimerAction> read_action(const std::string& kind, const Value& object, Read read) {
    if (object.get_if<Value::Map>() == nullptr) return detail::bad(kind, "must be an object");
    auto action = read(object);
    return action ? std::move(action) : detail::headed(kind, action.error());
}

}  // namespace

std::string_view action_word(const TimerAction& action) noexcept {
    if (std::holds_alternative<PushAction>(action)) return "push";
    return std::holds_alternative<PublishAction>(action) ? "publish" : "deliver";
}

Value to_value(const TimerAction& action) {
    Value::Map map;
    map.emplace_back(std::string{action_word(action)},
                     std::visit([](const auto& any) { return fields_of(any); }, action));
    return Value{std::move(map)};
}

Result<TimerAction> timer_action(const Value& payload) {
    const auto* map = payload.get_if<Value::Map>();
    if (map != nullptr && map->size() == 1) {
        const auto& [kind, object] = map->front();
        if (kind == "push") return read_action(kind, object, read_push);
        if (kind == "publish") return read_action(kind, object, read_publish);
        if (kind == "deliver") return read_action(kind, object, read_deliver);
    }
    return Error{Errc::invalid,
                 "action: must be an object with exactly one of push, publish and deliver"};
}

}  // namespace routemaster
