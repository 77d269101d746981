#include "event_payload.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "payload.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/names.hpp"
#include "routemaster/time.hpp"

namespace routemaster::api {
namespace {

Result<EventType> type_of(const Value& payload) {
    const auto* type = given(payload, "type");
    if (type == nullptr) return bad("type", "is missing");
    const auto* word = type->get_if<std::string>();
    const auto known = word == nullptr ? std::nullopt : event_type(*word);
    if (!known) return bad("type", "must be create, update, delete or noop");
    return *known;
}

/// Empty when it is absent: whether it may be is for `check` to say.
Result<std::string> url_of(const Value& payload) {
    const auto* url = given(payload, "url");
    if (url == nullptr) return std::string{};
    const auto* text = url->get_if<std::string>();
    if (text == nullptr) return bad("url", "requires a string");
    return *text;
}

/// Fractions of a millisecond are rounded. Absent, null and false leave the time to the server.
Result<std::optional<TimePoint>> timestamp_of(const Value& payload) {
    using Timestamp = std::optional<TimePoint>;
    const auto* timestamp = given(payload, "timestamp");
    if (timestamp == nullptr) return Timestamp{};
    if (const auto* truth = timestamp->get_if<bool>(); truth != nullptr && !*truth) {
        return Timestamp{};
    }
    if (const auto* whole = timestamp->get_if<std::int64_t>()) {
        return Timestamp{from_milliseconds(*whole)};
    }
    constexpr double limit = 9223372036854775808.0;
    const auto* real = timestamp->get_if<double>();
    if (real == nullptr || !(*real >= -limit && *real < limit)) {
        return bad("timestamp", "must be a number of milliseconds, of 64 bits");
    }
    return Timestamp{from_milliseconds(std::llround(*real))};
}

Result<std::optional<Value>> data_of(const Value& payload, std::size_t data_max) {
    using Data = std::optional<Value>;
    const auto* data = given(payload, "data");
    if (data == nullptr) return Data{};
    if (data->get_if<Value::Map>() == nullptr) return bad("data", "must be an object");
    if (const auto size = encoded_size(*data); size > data_max) {
        return bad("data", "takes " + std::to_string(size) + " bytes of MessagePack, more than " +
                               std::to_string(data_max));
    }
    return Data{*data};
}

Result<Event> read_event(std::string topic, const Value& payload, const HttpApiOptions& options) {
    auto type = type_of(payload);
    if (!type) return type.error();
    auto url = url_of(payload);
    if (!url) return url.error();
    auto timestamp = timestamp_of(payload);
    if (!timestamp) return timestamp.error();
    auto data = data_of(payload, options.event_data_max);
    if (!data) return data.error();
    Event event{.topic = std::move(topic),
                .type = *type,
                .url = std::move(*url),
                .timestamp = *timestamp,
                .data = std::move(*data)};
    if (auto checked = check(event, options.event_rules); !checked) return checked.error();
    return event;
}

}  // namespace

Result<Event> event_of(std::string topic, const Value& payload, const HttpApiOptions& options) {
    const auto rule = options.event_rules.topics;
    if (!is_topic_name(topic, rule)) {
        return headed("bad topic", bad("topic", "must be " + std::string{to_string(rule)}));
    }
    auto event = read_event(std::move(topic), payload, options);
    if (!event) return headed("bad event", event.error());
    return event;
}

}  // namespace routemaster::api
