/// @file
/// Parses and checks the fields of JSON objects.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "routemaster/error.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// The value of an optional field. Null when the field is absent or is JSON's `null`.
[[nodiscard]] const Value* given(const Value& object, std::string_view field) noexcept;

/// As `given`, but `false` also counts as absent, as in Ruby Routemaster.
[[nodiscard]] const Value* asked_for(const Value& object, std::string_view field) noexcept;

/// Validates the field names of an object. `invalid` when `object` has a field that is not in
/// `known`. `object` must be an object.
[[nodiscard]] Result<void> check_fields(const Value& object,
                                        std::span<const std::string_view> known);

/// The text in an optional field. `invalid` for another type.
[[nodiscard]] Result<std::optional<std::string>> optional_text(const Value& object,
                                                               std::string_view field);

/// The text in a required field. `invalid` when it is absent or of another type.
[[nodiscard]] Result<std::string> required_text(const Value& object, std::string_view field);

/// The integer in an optional field. `invalid` when the value is no integer or is out of bounds.
[[nodiscard]] Result<std::optional<std::int64_t>> integer_of(const Value& object,
                                                             std::string_view field,
                                                             std::int64_t least, std::int64_t most);

/// The duration in an optional field, in milliseconds, at most `span_max`.
[[nodiscard]] Result<std::optional<Duration>> span_of(const Value& object, std::string_view field);

/// The due time in an optional field, in milliseconds since the Unix epoch.
[[nodiscard]] Result<std::optional<TimePoint>> due_time_of(const Value& object,
                                                           std::string_view field);

/// The boolean in an optional field. `otherwise` when the field is absent.
[[nodiscard]] Result<bool> truth_of(const Value& object, std::string_view field, bool otherwise);

/// An `invalid` error naming `field` and the problem.
[[nodiscard]] Error bad(std::string_view field, std::string_view problem);

[[nodiscard]] Error headed(std::string_view words, const Error& error);

}  // namespace routemaster::detail
