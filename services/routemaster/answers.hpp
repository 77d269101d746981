/// @file
/// Reads and prints the responses of the bus.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "bus_client.hpp"
#include "routemaster/value.hpp"

namespace routemaster::service {

/// The value of a field. Throws `std::runtime_error` when the response lacks the field; so do the
/// next two functions.
[[nodiscard]] const Value& field(const Value& object, std::string_view key);

/// The elements of an array.
[[nodiscard]] const Value::Array& elements(const Value& array);

/// The whole number in a field.
[[nodiscard]] std::int64_t number(const Value& object, std::string_view key);

/// A text unchanged, and any other value as JSON.
[[nodiscard]] std::string printed(const Value& value);

/// An instant in UTC, to the second; `-` when there is none.
[[nodiscard]] std::string printed_time(const Value& value);

/// The time since an instant: `0.3s`, `12s`, `3m 5s`, `2h 5m`, `4d 2h`; `-` when there is none.
[[nodiscard]] std::string printed_age(const Value& value);

/// The time until an instant, in the format of `printed_age`; `-` when there is none.
[[nodiscard]] std::string printed_wait(const Value& value);

/// Prints an object, one field per line. Fields named `at` or `*_at` are printed as instants. With
/// `json`, prints the response unchanged.
void print_fields(const std::string& object, bool json);

/// Prints an explanation as a sentence: "timer a is pending: it is due in 3 s". `key` names the
/// field whose `state` belongs into the sentence; empty for none. With `json`, prints the response
/// unchanged.
void print_explanation(const std::string& subject, std::string_view key, const std::string& body,
                       bool json);

/// Passes the items of a list to `take`, page by page, until `take` returns false.
void for_each_item(BusClient& client, std::string path,
                   const std::function<bool(const Value&)>& take);

}  // namespace routemaster::service
