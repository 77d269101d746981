/// @file
/// The callbacks that subscribers may set over HTTP.

#pragma once

#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::api {

/// Checks the rules of `check_url`, and that the port fits 16 bits. Unless `allow_http`, which also
/// accepts http URLs, the host must not be a literal that means this machine: no client may make
/// the bus call services that only this machine may reach. Names that resolve to such an address
/// pass here. `invalid`, naming `callback`, when something is wrong.
[[nodiscard]] Result<void> check_callback(std::string_view url, bool allow_http);

}  // namespace routemaster::api
