/// @file
/// Validation of the callbacks that subscribers set over HTTP.

#pragma once

#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::api {

/// Validates a callback by `check_url`, and its port, which must fit into 16 bits. If `allow_http`,
/// http URLs are accepted, too. Otherwise the host must not be an address or a well-known name of
/// this machine, because clients must not make the bus call services that only this machine may
/// reach. Other names are accepted, even if they resolve to this machine. The error is `invalid`
/// and names `callback`.
[[nodiscard]] Result<void> check_callback(std::string_view url, bool allow_http);

}  // namespace routemaster::api
