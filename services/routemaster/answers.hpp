/// @file
/// Parses and prints the responses of the bus.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "bus_client.hpp"
#include "routemaster/value.hpp"

namespace routemaster::service {

/// Returns the value of a field. This and the next two functions throw `std::runtime_error` if the
/// response does not have the field, or if its type is wrong.
[[nodiscard]] const Value& field(const Value& object, std::string_view key);

/// Returns the elements of an array.
[[nodiscard]] const Value::Array& elements(const Value& array);

/// Returns the whole number in a field.
[[nodiscard]] std::int64_t number(const Value& object, std::string_view key);

/// Formats a value: a text unchanged, any other value as JSON.
[[nodiscard]] std::string printed(const Value& value);

/// Formats an instant in UTC, to the second; `-` for null.
[[nodiscard]] std::string printed_time(const Value& value);

/// Formats the time since an instant: `0.3s`, `12s`, `3m 5s`, `2h 5m`, `4d 2h`; `-` for null.
[[nodiscard]] std::string printed_age(const Value& value);

/// Formats the time until an instant, like `printed_age`; `-` for null.
[[nodiscard]] std::string printed_wait(const Value& value);

/// Prints an object, one field per line. Fields named `at` or `*_at` are formatted as instants.
/// With `json`, prints the response unchanged.
void print_fields(const std::string& object, bool json);

/// Prints an explanation as a sentence: "timer a is pending: it is due in 3 s". `key` names the
/// field with the `state` to print; empty: no state. With `json`, prints the response
/// unchanged.
void print_explanation(const std::string& subject, std::string_view key, const std::string& body,
                       bool json);

/// Calls `take` for each item of a list, page by page, until `take` returns false.
void for_each_item(BusClient& client, std::string path,
                   const std::function<bool(const Value&)>& take);

}  // namespace routemaster::service
