/// @file
/// Percent-encoding (RFC 3986 §2.1), which lets a target carry any bytes.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// Undoes percent-encoding. None when a `%` is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// Encodes everything but the unreserved characters.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace routemaster::detail
