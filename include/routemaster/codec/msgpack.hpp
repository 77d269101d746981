/// @file
/// MessagePack codec. Stores encode values, messages, jobs and the keys of counters in this format.
///
/// The encodings equal Ruby Routemaster's byte for byte, because two jobs are equal when their
/// bytes are equal. Integers and lengths have their shortest form, floating-point numbers have 64
/// bits, and extension types do not occur.
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

/// Maximum nesting depth of arrays and maps in decoded MessagePack. It is twice the maximum of
/// JSON, so parsed JSON can be wrapped into further levels and decoded again.
inline constexpr std::size_t msgpack_depth_max = 128;

/// Appends `value` to `out`. A value nested deeper than `msgpack_depth_max` can be encoded but not
/// decoded.
void append_msgpack(std::string& out, const Value& value);

/// Encodes `value`.
[[nodiscard]] std::string encode(const Value& value);

/// Returns the length of `encode(value)`, without encoding it.
[[nodiscard]] std::size_t encoded_size(const Value& value);

/// Decodes one value. If a map has a key twice, the last value is used. `corrupted` when `bytes`
/// are not MessagePack, contain more than one value, are nested deeper than `msgpack_depth_max`, or
/// contain a type that `Value` does not have.
[[nodiscard]] Result<Value> decode_value(std::string_view bytes);

/// Encodes an event as a message. If the event has no timestamp, its time is `now`.
[[nodiscard]] std::string encode_message(const Event& event, TimePoint now);

/// Decodes a message to an event. Returns nothing when the message is damaged, incomplete, or not
/// an event.
///
/// As in Ruby Routemaster, fields may be in any order, unknown fields are ignored, and data may be
/// missing. Times are rounded to whole milliseconds.
[[nodiscard]] std::optional<Event> decode_message(std::string_view message);

/// Encodes a job. Jobs with equal bytes are equal.
[[nodiscard]] std::string encode_job(const Job& job);

/// Decodes a job; `corrupted` when `bytes` are not an encoded job.
[[nodiscard]] Result<Job> decode_job(std::string_view bytes);

/// Encodes a counter's key. The tags are not sorted: the caller must sort them first.
[[nodiscard]] std::string encode_counter_key(const CounterKey& key);

/// Decodes a counter's key; `corrupted` when `bytes` are not an encoded key.
[[nodiscard]] Result<CounterKey> decode_counter_key(std::string_view bytes);

}  // namespace routemaster
