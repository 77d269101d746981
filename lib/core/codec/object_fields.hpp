/// @file
/// Reads the fields of an object from JSON.

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

/// The value of an optional field; null when it is absent or JSON's `null`.
[[nodiscard]] const Value* given(const Value& object, std::string_view field) noexcept;

/// As `given`, but `false` also counts as absent, as in Ruby Routemaster.
[[nodiscard]] const Value* asked_for(const Value& object, std::string_view field) noexcept;

/// `invalid` when `object` has a field that is not `known`. `object` must be an object.
[[nodiscard]] Result<void> check_fields(const Value& object,
                                        std::span<const std::string_view> known);

/// The text of an optional field.
[[nodiscard]] Result<std::optional<std::string>> optional_text(const Value& object,
                                                               std::string_view field);

/// The text of a required field.
[[nodiscard]] Result<std::string> required_text(const Value& object, std::string_view field);

/// The whole number of an optional field. `invalid` when out of bounds or not a whole number.
[[nodiscard]] Result<std::optional<std::int64_t>> integer_of(const Value& object,
                                                             std::string_view field,
                                                             std::int64_t least, std::int64_t most);

/// The time span of an optional field, in milliseconds, up to `span_max`.
[[nodiscard]] Result<std::optional<Duration>> span_of(const Value& object, std::string_view field);

/// The instant of an optional field, in milliseconds, as a due time.
[[nodiscard]] Result<std::optional<TimePoint>> due_time_of(const Value& object,
                                                           std::string_view field);

/// The truth value of an optional field; `otherwise` when absent.
[[nodiscard]] Result<bool> truth_of(const Value& object, std::string_view field, bool otherwise);

/// An `invalid` error naming `field` and the problem.
[[nodiscard]] Error bad(std::string_view field, std::string_view problem);

/// `error` with `words` in front.
[[nodiscard]] Error headed(std::string_view words, const Error& error);

}  // namespace routemaster::detail
