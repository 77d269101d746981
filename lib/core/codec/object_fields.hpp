/// @file
/// Reads the fields of an object that a client sent as JSON, or that was kept as such.

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

/// The same of a field for which `false` also counts as absent, as in Ruby Routemaster.
[[nodiscard]] const Value* asked_for(const Value& object, std::string_view field) noexcept;

/// `invalid` when `object`, which is one, has a field that is not `known`.
[[nodiscard]] Result<void> check_fields(const Value& object,
                                        std::span<const std::string_view> known);

/// The text of an optional field.
[[nodiscard]] Result<std::optional<std::string>> optional_text(const Value& object,
                                                               std::string_view field);

/// The text of a field that must be there.
[[nodiscard]] Result<std::string> required_text(const Value& object, std::string_view field);

/// A whole number of an optional field. `invalid` when it is out of bounds, or no whole number.
[[nodiscard]] Result<std::optional<std::int64_t>> integer_of(const Value& object,
                                                             std::string_view field,
                                                             std::int64_t least, std::int64_t most);

/// A span of time of an optional field, in milliseconds, up to `span_max`.
[[nodiscard]] Result<std::optional<Duration>> span_of(const Value& object, std::string_view field);

/// An instant of an optional field at which something may be due, in milliseconds.
[[nodiscard]] Result<std::optional<TimePoint>> due_time_of(const Value& object,
                                                           std::string_view field);

/// Whether an optional field says so; `otherwise` when it is absent.
[[nodiscard]] Result<bool> truth_of(const Value& object, std::string_view field, bool otherwise);

/// An `invalid` error that names `field` and the problem.
[[nodiscard]] Error bad(std::string_view field, std::string_view problem);

/// `error`, preceded by where it was made.
[[nodiscard]] Error headed(std::string_view words, const Error& error);

}  // namespace routemaster::detail
