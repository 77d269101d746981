/// @file
/// Checks the callbacks that subscribers set over HTTP.

#pragma once

#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::api {

/// Checks the rules of `check_url`, and the port, which must fit 16 bits. If `allow_http`, http
/// URLs are accepted too. Otherwise the host must not be an address or a well-known name of this
/// machine: clients must not make the bus call services that only this machine may reach. Further
/// names are accepted, even if they resolve to this machine. On error `invalid`, naming `callback`.
[[nodiscard]] Result<void> check_callback(std::string_view url, bool allow_http);

}  // namespace routemaster::api
