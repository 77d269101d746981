/// @file
/// What the bus answers, as commands read and print it.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "bus_client.hpp"
#include "routemaster/value.hpp"

namespace routemaster::service {

/// The value of a field. Throws `std::runtime_error` when the bus did not send it; so below.
[[nodiscard]] const Value& field(const Value& object, std::string_view key);

/// The elements of an array.
[[nodiscard]] const Value::Array& elements(const Value& array);

/// The whole number in a field.
[[nodiscard]] std::int64_t number(const Value& object, std::string_view key);

/// A text as it is, and any other value as JSON.
[[nodiscard]] std::string printed(const Value& value);

/// An instant in UTC, to the second; `-` when there is none.
[[nodiscard]] std::string printed_time(const Value& value);

/// How long ago an instant was: `0.3s`, `12s`, `3m 5s`, `2h 5m`, `4d 2h`; `-` when there is none.
[[nodiscard]] std::string printed_age(const Value& value);

/// How long until such an instant; "-" when there is none.
[[nodiscard]] std::string printed_wait(const Value& value);

/// Prints an object, a field in each line; `json`: as it was answered. What is called `at`, or ends
/// in `_at`, is an instant.
void print_fields(const std::string& object, bool json);

/// Prints an explanation as a sentence: "timer a is pending: it is due in 3 s". `json`: as it was
/// answered. `key` is the field whose `state` belongs to the sentence; empty for none.
void print_explanation(const std::string& subject, std::string_view key, const std::string& body,
                       bool json);

/// Passes the items of a list to `take`, page by page, until it returns false.
void for_each_item(BusClient& client, std::string path,
                   const std::function<bool(const Value&)>& take);

}  // namespace routemaster::service
