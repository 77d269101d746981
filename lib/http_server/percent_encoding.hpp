/// @file
/// Codec for percent-encoding (RFC 3986 §2.1).

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// Decodes a text. Returns nothing if a `%` is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// Encodes all characters except unreserved characters.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace routemaster::detail
