/// @file
/// Parser for request targets.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// Returns the decoded path of a request target without its query. Returns nothing if a `%` is not
/// followed by two hexadecimal digits. For a target in absolute form (`http://host/path`, RFC 9112
/// §3.2.2), returns its path.
[[nodiscard]] std::optional<std::string> path_of_target(std::string_view target);

}  // namespace routemaster::detail
