/// @file
/// The path of a request line.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// The decoded path of a request target. The target must have no query. Nothing if two hexadecimal
/// digits do not follow each `%`. A target in absolute form (`http://host/path`, RFC 9112 §3.2.2)
/// yields its path.
[[nodiscard]] std::optional<std::string> path_of_target(std::string_view target);

}  // namespace routemaster::detail
