/// @file
/// MessagePack, as everything is stored: values, messages, jobs and the keys of counters.
///
/// The encodings are those of Ruby Routemaster bus, byte for byte: two jobs are the same job when
/// their bytes are. Integers and lengths take their smallest form, floating-point numbers 64 bits,
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

/// How deep arrays and maps may lie in one another in MessagePack that is decoded. Twice what JSON
/// may have: whatever came in as JSON can be wrapped and decoded again.
inline constexpr std::size_t msgpack_depth_max = 128;

/// Appends `value` to `out`. What lies deeper than `msgpack_depth_max` can be encoded, but not
/// decoded again.
void append_msgpack(std::string& out, const Value& value);

/// The bytes of `value`.
[[nodiscard]] std::string encode(const Value& value);

/// How many bytes `encode` would make, without making them.
[[nodiscard]] std::size_t encoded_size(const Value& value);

/// The value that `bytes` are. Of equal keys in a map the last value counts. `corrupted` when they
/// are no MessagePack, more than one value, deeper than `msgpack_depth_max`, or of a type that
/// `Value` lacks.
[[nodiscard]] Result<Value> decode_value(std::string_view bytes);

/// The message of an event, which happened at `now` unless it says otherwise.
[[nodiscard]] std::string encode_message(const Event& event, TimePoint now);

/// The event of a message; nothing when it is damaged, incomplete, or of another kind.
///
/// Tolerant as Ruby Routemaster: fields in any order, unknown ones ignored, data may be missing.
/// Times that are no whole number of milliseconds are rounded.
[[nodiscard]] std::optional<Event> decode_message(std::string_view message);

/// The bytes of a job, which are its identity.
[[nodiscard]] std::string encode_job(const Job& job);

/// The job that `bytes` are; `corrupted` when they are none.
[[nodiscard]] Result<Job> decode_job(std::string_view bytes);

/// The bytes of a counter's key. Tags go in as they are: sort them first.
[[nodiscard]] std::string encode_counter_key(const CounterKey& key);

/// The counter's key that `bytes` are; `corrupted` when they are none.
[[nodiscard]] Result<CounterKey> decode_counter_key(std::string_view bytes);

}  // namespace routemaster
