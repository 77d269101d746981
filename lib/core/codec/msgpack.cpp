#include "routemaster/codec/msgpack.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>

#include "core/codec/job_builder.hpp"
#include "core/codec/message_reader.hpp"
#include "core/codec/msgpack_parser.hpp"
#include "core/codec/msgpack_writer.hpp"
#include "core/codec/sink.hpp"
#include "core/codec/value_builder.hpp"

namespace routemaster {
namespace {

Error damaged(std::string_view what) {
    return {Errc::corrupted, "MessagePack: not " + std::string{what}};
}

/// Converts a timestamp to whole milliseconds, clamped to the range of `TimePoint`.
struct RoundedTime {
    TimePoint operator()(std::monostate) const noexcept { return TimePoint{}; }
    TimePoint operator()(std::int64_t time) const noexcept { return from_milliseconds(time); }
    TimePoint operator()(std::uint64_t time) const noexcept {
        return time > std::uint64_t{INT64_MAX} ? never
                                               : from_milliseconds(static_cast<std::int64_t>(time));
    }
    TimePoint operator()(double time) const noexcept {
        constexpr double limit = 9223372036854775808.0;
        if (time >= limit) return never;
        if (time < -limit) return TimePoint::min();
        return from_milliseconds(std::llround(time));
    }
};

}  // namespace

void append_msgpack(std::string& out, const Value& value) {
    detail::StringStream stream{out};
    detail::MsgpackWriter writer{stream};
    detail::report(value, writer);
}

std::string encode(const Value& value) {
    std::string out;
    append_msgpack(out, value);
    return out;
}

std::size_t encoded_size(const Value& value) {
    detail::CountingStream stream;
    detail::MsgpackWriter writer{stream};
    detail::report(value, writer);
    return stream.size();
}

Result<Value> decode_value(std::string_view bytes) {
    detail::ValueBuilder builder;
    if (!detail::parse_msgpack(bytes, builder)) return damaged("a value");
    return builder.result();
}

std::string encode_message(const Event& event, TimePoint now) {
    constexpr std::size_t fixed = 64;
    std::string out;
    out.reserve(event.topic.size() + event.url.size() + fixed);
    detail::StringStream stream{out};
    detail::MsgpackWriter writer{stream};
    writer.begin_array(2);
    writer.text("e");
    writer.begin_map(5);
    writer.key("t");
    writer.integer(to_milliseconds(event.timestamp.value_or(now)));
    writer.key("o");
    writer.text(event.topic);
    writer.key("y");
    writer.text(to_string(event.type));
    writer.key("u");
    writer.text(event.url);
    writer.key("d");
    event.data ? detail::report(*event.data, writer) : static_cast<void>(writer.null());
    return out;
}

std::optional<Event> decode_message(std::string_view message) {
    detail::ValueBuilder data;
    detail::MessageReader reader{data};
    if (reader.read(message) != detail::MessageKind::event) return std::nullopt;
    Event event{.topic = std::string{reader.topic()},
                .type = reader.type(),
                .url = std::string{reader.url()},
                .timestamp = std::visit(RoundedTime{}, reader.timestamp())};
    if (reader.has_data()) event.data = data.result();
    return event;
}

std::string encode_job(const Job& job) {
    std::string out;
    detail::StringStream stream{out};
    detail::MsgpackWriter writer{stream};
    writer.begin_array(2);
    writer.text(job.name);
    writer.begin_array(job.arguments.size());
    for (const auto& argument : job.arguments) detail::report(argument, writer);
    return out;
}

Result<Job> decode_job(std::string_view bytes) {
    detail::JobBuilder builder;
    if (!detail::parse_msgpack(bytes, builder)) return damaged("a job");
    return builder.result();
}

std::string encode_counter_key(const CounterKey& key) {
    std::string out;
    detail::StringStream stream{out};
    detail::MsgpackWriter writer{stream};
    writer.begin_array(2);
    writer.text(key.name);
    writer.begin_array(key.tags.size());
    for (const auto& [tag, value] : key.tags) {
        writer.begin_array(2);
        writer.text(tag);
        value ? writer.text(*value) : writer.null();
    }
    return out;
}

Result<CounterKey> decode_counter_key(std::string_view bytes) {
    const auto value = decode_value(bytes);
    const auto* parts = value ? value->get_if<Value::Array>() : nullptr;
    if (parts == nullptr || parts->size() != 2) return damaged("a counter's key");
    const auto* name = parts->front().get_if<std::string>();
    const auto* tags = parts->back().get_if<Value::Array>();
    if (name == nullptr || tags == nullptr) return damaged("a counter's key");
    CounterKey key{.name = *name};
    for (const auto& item : *tags) {
        const auto* tag = item.get_if<Value::Array>();
        const bool is_pair = tag != nullptr && tag->size() == 2;
        const auto* tag_name = is_pair ? tag->front().get_if<std::string>() : nullptr;
        const auto* text = is_pair ? tag->back().get_if<std::string>() : nullptr;
        if (tag_name == nullptr || (text == nullptr && !tag->back().is_null())) {
            return damaged("a counter's key");
        }
        key.tags.emplace_back(*tag_name, text ? std::optional{*text} : std::nullopt);
    }
    return key;
}

}  // namespace routemaster
