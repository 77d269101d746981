#include "core/codec/event_fields.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/codec/object_fields.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {
namespace {

Result<EventType> type_of(const Value& payload, std::optional<EventType> otherwise) {
    const auto* type = given(payload, "type");
    if (type == nullptr && otherwise) return *otherwise;
    if (type == nullptr) return bad("type", "is missing");
    const auto* word = type->get_if<std::string>();
    const auto known = word == nullptr ? std::nullopt : event_type(*word);
    if (!known) return bad("type", "must be create, update, delete or noop");
    return *known;
}

/// Parses a timestamp. Fractions of a millisecond are rounded. If the field is absent, null or
/// false, the server sets the time.
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

}  // namespace

Result<Event> read_event(std::string topic, const Value& payload,
                         std::optional<EventType> otherwise) {
    const auto type = type_of(payload, otherwise);
    if (!type) return type.error();
    // The URL may be absent here, because the later check of the event decides whether its type
    // needs a URL.
    const auto url = optional_text(payload, "url");
    if (!url) return url.error();
    const auto timestamp = timestamp_of(payload);
    if (!timestamp) return timestamp.error();
    const auto* data = given(payload, "data");
    return Event{.topic = std::move(topic),
                 .type = *type,
                 .url = url->value_or(""),
                 .timestamp = *timestamp,
                 .data = data == nullptr ? std::optional<Value>{} : *data};
}

}  // namespace routemaster::detail
