/// @file
/// Reads the JSON of requests.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "routemaster/error.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// Parses `body` as an object. `invalid` when it is not JSON, or JSON of another kind.
[[nodiscard]] Result<Value> json_object(std::string_view body);

/// The value of an optional field; null when it is absent or JSON's `null`.
[[nodiscard]] const Value* given(const Value& object, std::string_view field) noexcept;

/// The same of a field for which `false` also counts as absent, as in Ruby Routemaster.
[[nodiscard]] const Value* asked_for(const Value& object, std::string_view field) noexcept;

/// `invalid` when `object` has a field that is not `known`.
[[nodiscard]] Result<void> check_fields(const Value& object,
                                        std::span<const std::string_view> known);

/// `invalid` unless the body is empty, or an object without fields: what it says would be ignored.
[[nodiscard]] Result<void> check_no_fields(std::string_view body);

/// A whole number of an optional field, as `asked_for`. `invalid` when it is out of bounds, or no
/// whole number.
[[nodiscard]] Result<std::optional<std::int64_t>> integer_of(const Value& object,
                                                             std::string_view field,
                                                             std::int64_t least, std::int64_t most);

/// An `invalid` error that names `field` and the problem.
[[nodiscard]] Error bad(std::string_view field, std::string_view problem);

/// `error`, preceded by Ruby Routemaster's words for that kind of mistake, which clients may look
/// for.
[[nodiscard]] Error headed(std::string_view words, const Error& error);

}  // namespace routemaster::api
