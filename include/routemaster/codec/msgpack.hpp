/// @file
/// MessagePack, in which everything is stored: values, messages, jobs and the keys of counters.
///
/// The encodings are those of Ruby Routemaster, byte for byte: two jobs are the same job when their
/// bytes are equal. Integers and lengths take their smallest form, floating-point numbers 64 bits,
/// and extension types do not occur.
///
///     message      ["e", {"t": time, "o": topic, "y": type, "u": URL, "d": data or nil}]
///     job          [name, [argument, …]]
///     counter key  [name, [[tag, value or nil], …]]

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/counter.hpp"
#include "routemaster/event.hpp"
#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// How deep arrays and maps may be nested in decoded MessagePack. Twice the limit of JSON: whatever
/// came in as JSON can be wrapped and decoded again.
inline constexpr std::size_t msgpack_depth_max = 128;

/// Appends `value` to `out`. Values nested deeper than `msgpack_depth_max` can be encoded, but not
/// decoded again.
void append_msgpack(std::string& out, const Value& value);

/// Encodes `value`.
[[nodiscard]] std::string encode(const Value& value);

/// How many bytes `encode` would return, without building them.
[[nodiscard]] std::size_t encoded_size(const Value& value);

/// Decodes one value. Of equal keys in a map the last value counts. `corrupted` when `bytes` are
/// not MessagePack, more than one value, deeper than `msgpack_depth_max`, or of a type that `Value`
/// lacks.
[[nodiscard]] Result<Value> decode_value(std::string_view bytes);

/// Encodes the message of an event; its time is `now` unless it has a timestamp.
[[nodiscard]] std::string encode_message(const Event& event, TimePoint now);

/// Decodes the event of a message; nothing when it is damaged, incomplete, or of another kind.
///
/// Tolerant as Ruby Routemaster: fields in any order, unknown ones ignored, data may be missing.
/// Times are rounded to whole milliseconds.
[[nodiscard]] std::optional<Event> decode_message(std::string_view message);

/// Encodes a job; the bytes are its identity.
[[nodiscard]] std::string encode_job(const Job& job);

/// Decodes a job; `corrupted` when `bytes` are not one.
[[nodiscard]] Result<Job> decode_job(std::string_view bytes);

/// Encodes a counter's key. Tags keep their order: sort them first.
[[nodiscard]] std::string encode_counter_key(const CounterKey& key);

/// Decodes a counter's key; `corrupted` when `bytes` are not one.
[[nodiscard]] Result<CounterKey> decode_counter_key(std::string_view bytes);

}  // namespace routemaster
