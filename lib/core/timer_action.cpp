#include "routemaster/timer_action.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "routemaster/error.hpp"

namespace routemaster {
namespace {

constexpr std::array<std::string_view, 3> scope_words{"until_done", "until_started", "for_time"};
constexpr std::array<std::string_view, 3> duplicate_words{"keep", "replace", "debounce"};

constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t count_max = std::numeric_limits<std::uint32_t>::max();

// --- Writing ------------------------------------------------------------------------------------

/// Adds a field unless it is as by default.
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

/// Reads the fields of an object, and notes the first that is wrong.
class ActionFields {
public:
    explicit ActionFields(const Value& object) : object_{object} {
        if (object.get_if<Value::Map>() == nullptr) error_ = "must be an object";
    }

    /// The value of a field; null when it is absent, or null.
    const Value* find(std::string_view field) {
        known_.push_back(field);
        const auto* value = object_.find(field);
        return value == nullptr || value->is_null() ? nullptr : value;
    }

    void refuse(std::string_view field, std::string_view problem) {
        if (error_.empty()) error_ = std::string{field} + ": " + std::string{problem};
    }

    void require(std::string_view field, std::string& into) {
        if (find(field) == nullptr) return refuse(field, "is missing");
        text(field, into);
    }

    void text(std::string_view field, std::string& into) { read(field, into, "must be a string"); }

    void truth(std::string_view field, bool& into) { read(field, into, "must be true or false"); }

    /// A number, if it is there.
    template <class Number>
    void number(std::string_view field, std::int64_t least, std::int64_t most, Number& into) {
        const auto* value = find(field);
        if (value == nullptr) return;
        const auto* whole = value->get_if<std::int64_t>();
        if (whole == nullptr || *whole < least || *whole > most) {
            return refuse(field, "must be a whole number from " + std::to_string(least) + " to " +
                                     std::to_string(most));
        }
        into = static_cast<Number>(*whole);
    }

    void span(std::string_view field, Duration& into) {
        auto milliseconds = into.count();
        number(field, 0, number_max, milliseconds);
        into = Duration{milliseconds};
    }

    void instant(std::string_view field, std::optional<TimePoint>& into) {
        std::optional<std::int64_t> milliseconds;
        number(field, std::numeric_limits<std::int64_t>::min(), number_max, milliseconds);
        if (milliseconds) into = from_milliseconds(*milliseconds);
    }

    /// One of some words, which stand for the values 0, 1, 2 of an enumeration.
    template <class Choice>
    void choice(std::string_view field, const std::array<std::string_view, 3>& words,
                Choice& into) {
        std::string word;
        text(field, word);
        if (word.empty()) return;
        const auto found = std::find(words.begin(), words.end(), word);
        if (found == words.end()) return refuse(field, "is none of its words");
        into = static_cast<Choice>(found - words.begin());
    }

    /// Takes over what is wrong with an object in a field.
    void nested(std::string_view field, ActionFields& inner) {
        if (const auto wrong = inner.end(); !wrong.empty()) refuse(field, wrong);
    }

    /// What is wrong, if anything is: a field that was not asked for, too.
    std::string end() {
        const auto* map = object_.get_if<Value::Map>();
        if (map == nullptr) return error_;
        for (const auto& [name, value] : *map) {
            if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
                refuse(name, "is not known");
            }
        }
        return error_;
    }

private:
    template <class T>
    void read(std::string_view field, T& into, const char* problem) {
        const auto* value = find(field);
        if (value == nullptr) return;
        const auto* content = value->get_if<T>();
        if (content == nullptr) return refuse(field, problem);
        into = *content;
    }

    const Value& object_;
    std::vector<std::string_view> known_;
    std::string error_;  // Empty: none.
};

void read_unique(ActionFields& fields, Unique& unique) {
    const auto* wanted = fields.find("unique");
    if (wanted == nullptr) return;
    if (const auto* truth = wanted->get_if<bool>()) {
        if (!*truth) unique = Unique::off();
        return;
    }
    ActionFields inner{*wanted};
    unique.by = Unique::By::key;
    inner.require("key", unique.key);
    inner.choice("scope", scope_words, unique.scope);
    inner.span("time", unique.time);
    inner.choice("on_duplicate", duplicate_words, unique.on_duplicate);
    fields.nested("unique", inner);
}

void read_metadata(ActionFields& fields, JobMetadata& metadata) {
    const auto* wanted = fields.find("metadata");
    if (wanted == nullptr) return;
    const auto* entries = wanted->get_if<Value::Map>();
    if (entries == nullptr) return fields.refuse("metadata", "must be an object of strings");
    for (const auto& [name, value] : *entries) {
        const auto* text = value.get_if<std::string>();
        if (text == nullptr) return fields.refuse("metadata", "must be an object of strings");
        metadata.insert_or_assign(name, *text);
    }
}

PushAction read_push(ActionFields& fields) {
    PushAction action;
    fields.require("queue", action.queue);
    fields.require("name", action.job.name);
    if (const auto* arguments = fields.find("arguments")) {
        const auto* list = arguments->get_if<Value::Array>();
        if (list == nullptr) fields.refuse("arguments", "must be an array");
        if (list != nullptr) action.job.arguments = *list;
    }
    auto& options = action.options;
    fields.span("delay", options.delay);
    fields.instant("run_at", options.run_at);
    fields.number("attempts_max", 0, count_max, options.attempts_max);
    fields.number("priority", -priority_max, priority_max, options.priority);
    fields.span("timeout", options.timeout);
    fields.span("expires", options.expires);
    read_unique(fields, options.unique);
    read_metadata(fields, options.metadata);
    fields.text("group", options.group);
    fields.number("concurrency", 1, group_concurrency_max, options.concurrency);
    fields.number("batch", 0, number_max, options.batch);
    return action;
}

EventType read_type(ActionFields& fields, std::optional<EventType> otherwise) {
    std::string word;
    fields.text("type", word);
    const auto known = word.empty() ? otherwise : event_type(word);
    if (!known) fields.refuse("type", "must be create, update, delete or noop");
    return known.value_or(EventType::noop);
}

/// An event whose type has a default or, if it has none, must be there.
Event read_event(ActionFields& fields, std::string topic, std::optional<EventType> type) {
    Event event{.topic = std::move(topic), .type = read_type(fields, type)};
    fields.text("url", event.url);
    fields.instant("timestamp", event.timestamp);
    if (const auto* data = fields.find("data")) event.data = *data;
    return event;
}

PublishAction read_publish(ActionFields& fields) {
    std::string topic;
    fields.require("topic", topic);
    PublishAction action{.event = read_event(fields, std::move(topic), std::nullopt)};
    std::string publisher;
    fields.text("publisher", publisher);
    if (!publisher.empty()) action.publisher = std::move(publisher);
    fields.truth("authenticate", action.authenticate);
    fields.number("topics_max", 0, count_max, action.topics_max);
    return action;
}

DeliverAction read_deliver(ActionFields& fields) {
    std::string subscriber;
    fields.require("subscriber", subscriber);
    std::string topic{action_topic};
    fields.text("topic", topic);
    return {.subscriber = std::move(subscriber),
            .event = read_event(fields, std::move(topic), EventType::noop)};
}

/// What `read` makes of an object, or what is wrong with that.
template <class Read>
Result<TimerAction> read_action(const std::string& kind, const Value& object, Read read) {
    ActionFields fields{object};
    TimerAction action{read(fields)};
    if (const auto wrong = fields.end(); !wrong.empty()) {
        return Error{Errc::invalid, kind + ": " + wrong};
    }
    return action;
}

}  // namespace

Value to_value(const TimerAction& action) {
    constexpr std::array<const char*, 3> kinds{"push", "publish", "deliver"};
    Value::Map map;
    map.emplace_back(kinds.at(action.index()),
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
    return Error{Errc::invalid, "action: must be an object with push, publish or deliver alone"};
}

}  // namespace routemaster
