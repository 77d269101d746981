/// @file
/// Reads the JSON that requests carry.

#pragma once

#include <string_view>

#include "routemaster/error.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The object that `body` is. `invalid` when it is no JSON, or JSON of another kind.
[[nodiscard]] Result<Value> json_object(std::string_view body);

/// The value of a field that may be left out; null when it is, or when it is JSON's `null`.
[[nodiscard]] const Value* given(const Value& object, std::string_view field) noexcept;

/// The same of a field that may also be `false` to be left out, as in Ruby Routemaster.
[[nodiscard]] const Value* asked_for(const Value& object, std::string_view field) noexcept;

/// `invalid`, about what is wrong with `field`.
[[nodiscard]] Error bad(std::string_view field, std::string_view problem);

/// `error`, headed by Ruby Routemaster's words for that kind of mistake, which clients may look
/// for.
[[nodiscard]] Error headed(std::string_view words, const Error& error);

}  // namespace routemaster::api
