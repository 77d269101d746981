/// @file
/// Reads the JSON of requests.

#pragma once

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

/// An `invalid` error that names `field` and the problem.
[[nodiscard]] Error bad(std::string_view field, std::string_view problem);

/// `error`, preceded by Ruby Routemaster's words for that kind of mistake, which clients may look
/// for.
[[nodiscard]] Error headed(std::string_view words, const Error& error);

}  // namespace routemaster::api
