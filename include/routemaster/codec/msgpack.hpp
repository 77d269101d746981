/// @file
/// MessagePack, as everything is stored: values, messages, jobs and the keys of counters.
///
/// The encodings are those of the original bus, byte for byte: two jobs are the same job when their
/// bytes are. Integers and lengths take their smallest form, floating-point numbers 64 bits, and
/// extension types do not occur.
///
///     message      ["e", {"t": time, "o": topic, "y": type, "u": URL, "d": data or nil}]
///     job          [name, [argument, …]]
///     counter key  [name, [[tag, value or nil], …]]

#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <msgpack/pack.hpp>

#include "routemaster/codec/message_reader.hpp"
#include "routemaster/codec/msgpack_parser.hpp"
#include "routemaster/codec/sink.hpp"
#include "routemaster/codec/value_builder.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/detail/assert.hpp"
#include "routemaster/error.hpp"
#include "routemaster/event.hpp"
#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

namespace detail {

/// Where msgpack-c's packer writes to: the end of a string.
class StringStream {
public:
    explicit StringStream(std::string& out) noexcept : out_{out} {}
    void write(const char* bytes, std::size_t size) { out_.append(bytes, size); }

private:
    std::string& out_;
};

/// Where msgpack-c's packer writes to when only the length counts.
class CountingStream {
public:
    void write(const char*, std::size_t size) noexcept { size_ += size; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::size_t size_ = 0;
};

/// A sink that packs. Texts, arrays and maps must have less than 2^32 bytes or items.
template <class Stream>
class MsgpackWriter {
public:
    explicit MsgpackWriter(Stream& stream) : stream_{stream}, packer_{stream} {}

    bool null() {
        packer_.pack_nil();
        return true;
    }
    bool boolean(bool truth) {
        truth ? packer_.pack_true() : packer_.pack_false();
        return true;
    }
    bool integer(std::int64_t number) {
        packer_.pack_int64(number);
        return true;
    }
    bool natural(std::uint64_t number) {
        packer_.pack_uint64(number);
        return true;
    }
    /// The packer's own function would turn 1.0 into 1, which is not the same value.
    bool real(double number) {
        constexpr std::size_t size = 9;
        char bytes[size] = {'\xcb'};
        const auto bits = std::bit_cast<std::uint64_t>(number);
        for (std::size_t i = 1; i < size; ++i) {
            bytes[i] = static_cast<char>((bits >> (8U * (size - 1 - i))) & 0xffU);
        }
        stream_.write(bytes, size);
        return true;
    }
    bool text(std::string_view text) {
        const std::uint32_t size = length(text.size());
        packer_.pack_str(size);
        packer_.pack_str_body(text.data(), size);
        return true;
    }
    bool begin_array(std::size_t size) {
        packer_.pack_array(length(size));
        return true;
    }
    bool begin_map(std::size_t size) {
        packer_.pack_map(length(size));
        return true;
    }
    bool key(std::string_view name) { return text(name); }
    bool end_array() { return true; }
    bool end_map() { return true; }

private:
    [[nodiscard]] static std::uint32_t length(std::size_t size) {
        ROUTEMASTER_ASSERT(size <= UINT32_MAX);
        return static_cast<std::uint32_t>(size);
    }

    Stream& stream_;
    msgpack::packer<Stream> packer_;
};

[[nodiscard]] inline Error damaged(std::string_view what) {
    return {Errc::corrupted, "MessagePack: not " + std::string{what}};
}

/// Whole milliseconds of a time as it was written, held within what a `TimePoint` can be.
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

}  // namespace detail

/// Appends `value` to `out`. What lies deeper than `msgpack_depth_max` can be encoded, but not
/// decoded again.
inline void append_msgpack(std::string& out, const Value& value) {
    detail::StringStream stream{out};
    detail::MsgpackWriter writer{stream};
    detail::report(value, writer);
}

/// The bytes of `value`.
[[nodiscard]] inline std::string encode(const Value& value) {
    std::string out;
    append_msgpack(out, value);
    return out;
}

/// How many bytes `encode` would make, without making them.
[[nodiscard]] inline std::size_t encoded_size(const Value& value) {
    detail::CountingStream stream;
    detail::MsgpackWriter writer{stream};
    detail::report(value, writer);
    return stream.size();
}

/// The value that `bytes` are. Of equal keys in a map the last value counts. `corrupted` when they
/// are no MessagePack, more than one value, deeper than `msgpack_depth_max`, or of a type that
/// `Value` lacks.
[[nodiscard]] inline Result<Value> decode_value(std::string_view bytes) {
    detail::ValueBuilder builder;
    if (!detail::parse_msgpack(bytes, builder)) return detail::damaged("a value");
    return builder.result();
}

/// The message of an event, which happened at `now` unless it says otherwise.
[[nodiscard]] inline std::string encode_message(const Event& event, TimePoint now) {
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

/// The event of a message; nothing when it is damaged, incomplete, or of another kind.
///
/// Tolerant as the original: fields in any order, unknown ones ignored, data may be missing. Times
/// that are no whole number of milliseconds are rounded.
[[nodiscard]] inline std::optional<Event> decode_message(std::string_view message) {
    detail::ValueBuilder data;
    detail::MessageReader reader{data};
    if (reader.read(message) != detail::MessageKind::event) return std::nullopt;
    Event event{.topic = std::string{reader.topic()},
                .type = reader.type(),
                .url = std::string{reader.url()},
                .timestamp = std::visit(detail::RoundedTime{}, reader.timestamp())};
    if (reader.has_data()) event.data = data.result();
    return event;
}

/// The bytes of a job, which are its identity.
[[nodiscard]] inline std::string encode_job(const Job& job) {
    std::string out;
    detail::StringStream stream{out};
    detail::MsgpackWriter writer{stream};
    writer.begin_array(2);
    writer.text(job.name);
    writer.begin_array(job.arguments.size());
    for (const auto& argument : job.arguments) detail::report(argument, writer);
    return out;
}

/// The job that `bytes` are; `corrupted` when they are none.
[[nodiscard]] inline Result<Job> decode_job(std::string_view bytes) {
    const auto value = decode_value(bytes);
    const auto* parts = value ? value->get_if<Value::Array>() : nullptr;
    if (parts == nullptr || parts->size() != 2) return detail::damaged("a job");
    const auto* name = parts->front().get_if<std::string>();
    const auto* arguments = parts->back().get_if<Value::Array>();
    if (name == nullptr || arguments == nullptr) return detail::damaged("a job");
    return Job{.name = *name, .arguments = *arguments};
}

/// The bytes of a counter's key. Tags go in as they are: sort them first.
[[nodiscard]] inline std::string encode_counter_key(const CounterKey& key) {
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

/// The counter's key that `bytes` are; `corrupted` when they are none.
[[nodiscard]] inline Result<CounterKey> decode_counter_key(std::string_view bytes) {
    const auto value = decode_value(bytes);
    const auto* parts = value ? value->get_if<Value::Array>() : nullptr;
    if (parts == nullptr || parts->size() != 2) return detail::damaged("a counter's key");
    const auto* name = parts->front().get_if<std::string>();
    const auto* tags = parts->back().get_if<Value::Array>();
    if (name == nullptr || tags == nullptr) return detail::damaged("a counter's key");
    CounterKey key{.name = *name};
    for (const auto& item : *tags) {
        const auto* tag = item.get_if<Value::Array>();
        const bool is_pair = tag != nullptr && tag->size() == 2;
        const auto* tag_name = is_pair ? tag->front().get_if<std::string>() : nullptr;
        const auto* text = is_pair ? tag->back().get_if<std::string>() : nullptr;
        if (tag_name == nullptr || (text == nullptr && !tag->back().is_null())) {
            return detail::damaged("a counter's key");
        }
        key.tags.emplace_back(*tag_name, text ? std::optional{*text} : std::nullopt);
    }
    return key;
}

}  // namespace routemaster
