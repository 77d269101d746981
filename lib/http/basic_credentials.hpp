/// @file
/// Encoder for HTTP Basic authentication (RFC 7617).

#pragma once

#include <string>
#include <string_view>

namespace routemaster::detail {

[[nodiscard]] std::string basic_credentials(std::string_view user, std::string_view password);

}  // namespace routemaster::detail
