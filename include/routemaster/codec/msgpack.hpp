/// @file
/// MessagePack, the encoding in which stores keep values, messages, jobs and the keys of counters.
///
/// The encodings equal Ruby Routemaster's, byte for byte: two jobs are equal when their bytes are
/// equal. Integers and lengths have their shortest form, floating-point numbers have 64 bits, and
/// extension types do not occur.
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

/// The deepest nesting of arrays and maps in decoded MessagePack. The limit is twice that of JSON,
/// so parsed JSON can be wrapped and decoded again.
inline constexpr std::size_t msgpack_depth_max = 128;

/// Appends `value` to `out`. A value nested deeper than `msgpack_depth_max` can be encoded but not
/// decoded.
void append_msgpack(std::string& out, const Value& value);

/// Encodes `value`.
[[nodiscard]] std::string encode(const Value& value);

/// How many bytes `encode` would return; builds no bytes.
[[nodiscard]] std::size_t encoded_size(const Value& value);

/// Decodes one value. If keys of a map are equal, the last value counts. `corrupted` when `bytes`
/// are not MessagePack, have more than one value, are nested deeper than `msgpack_depth_max`, or
/// have a type that `Value` lacks.
[[nodiscard]] Result<Value> decode_value(std::string_view bytes);

/// Encodes the message of an event. The time of an event without a timestamp is `now`.
[[nodiscard]] std::string encode_message(const Event& event, TimePoint now);

/// Decodes the event of a message. Returns nothing when the message is damaged, incomplete, or of
/// another kind.
///
/// As in Ruby Routemaster, fields may be in any order, unknown fields are ignored, and data may be
/// missing. Times are rounded to whole milliseconds.
[[nodiscard]] std::optional<Event> decode_message(std::string_view message);

/// Encodes a job. The bytes are the job's identity.
[[nodiscard]] std::string encode_job(const Job& job);

/// Decodes a job; `corrupted` when `bytes` are not an encoded job.
[[nodiscard]] Result<Job> decode_job(std::string_view bytes);

/// Encodes a counter's key. Tags keep their order: sort the tags first.
[[nodiscard]] std::string encode_counter_key(const CounterKey& key);

/// Decodes a counter's key; `corrupted` when `bytes` are not an encoded key.
[[nodiscard]] Result<CounterKey> decode_counter_key(std::string_view bytes);

}  // namespace routemaster
