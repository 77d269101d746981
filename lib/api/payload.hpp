/// @file
/// Parser for the JSON in request bodies.

#pragma once

#include <string_view>

#include "core/codec/object_fields.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// Parses `body` as an object. `invalid` if `body` is not a JSON object.
[[nodiscard]] Result<Value> json_object(std::string_view body);

/// `invalid` unless the body is empty, or an object without fields. Otherwise a misspelt or
/// unsupported field would be ignored silently.
[[nodiscard]] Result<void> check_no_fields(std::string_view body);

using detail::asked_for;
using detail::bad;
using detail::check_fields;
using detail::due_time_of;
using detail::given;
using detail::headed;
using detail::integer_of;
using detail::optional_text;
using detail::required_text;
using detail::span_of;
using detail::truth_of;

}  // namespace routemaster::api
