#include "timer_event.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/codec/json_parser.hpp"
#include "core/codec/json_writer.hpp"
#include "core/codec/sink.hpp"
#include "core/codec/utf8.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/detail/assert.hpp"

namespace routemaster::redis {
namespace {

constexpr std::string_view wrapped = "_payload";
constexpr std::array<std::string_view, 4> reserved{"id", "maxRetries", "_numRetries", wrapped};

/// An event is nested one level deeper than its payload.
constexpr std::size_t depth_max = msgpack_depth_max + 1;

bool is_reserved(std::string_view name) {
    return std::find(reserved.begin(), reserved.end(), name) != reserved.end();
}

/// The payload, if it is a map whose entries can be added to the event's object. Otherwise null.
const Value::Map* plain_map(const Value& payload) {
    const auto* map = payload.get_if<Value::Map>();
    if (map == nullptr) return nullptr;
    const bool clash = std::any_of(map->begin(), map->end(),
                                   [](const auto& one) { return is_reserved(one.first); });
    return clash ? nullptr : map;
}

std::string well_formed(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto length = detail::utf8_length(text);
        if (length == 0) {
            out.append("\xef\xbf\xbd");
            text.remove_prefix(1);
        } else {
            out.append(text.substr(0, length));
            text.remove_prefix(length);
        }
    }
    return out;
}

}  // namespace

std::string timer_event(std::string_view id, std::string_view payload, std::uint32_t retries_max) {
    const auto value = decode_value(payload);
    ROUTEMASTER_ASSERT(value);
    std::string event;
    detail::JsonWriter writer{event};
    writer.begin_map(0);
    if (const auto* map = plain_map(*value)) {
        for (const auto& [name, field] : *map) {
            writer.key(name);
            detail::report(field, writer);
        }
    } else {
        writer.key(wrapped);
        detail::report(*value, writer);
    }
    writer.key("id");
    writer.text(id);
    writer.key("maxRetries");
    writer.natural(retries_max);
    writer.end_map();
    return event;
}

Value timer_payload(std::string_view event) {
    auto value = detail::parse_json(event, depth_max);
    if (!value) return well_formed(event);
    const auto* fields = value->get_if<Value::Map>();
    if (fields == nullptr) return *std::move(value);
    if (const auto* payload = value->find(wrapped)) return *payload;
    Value::Map own;
    own.reserve(fields->size());
    for (const auto& field : *fields) {
        if (!is_reserved(field.first)) own.push_back(field);
    }
    return own;
}

}  // namespace routemaster::redis
