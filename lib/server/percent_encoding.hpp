/// @file
/// Percent-encoding (RFC 3986 §2.1).

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// Decodes percent-encoding. Nothing if two hexadecimal digits do not follow each `%`.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// Encodes all characters except the unreserved characters.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace routemaster::detail
