/// @file
/// Which callbacks may be asked for over HTTP.

#pragma once

#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::api {

/// Checks the rules of `check_url`, and that the port fits 16 bits. Unless `allow_http`, which also
/// lets http URLs pass, the host must not be a literal that means this machine: nobody may have the
/// bus exchange what listens there for itself alone. Names that resolve to such an address are not
/// found out here. `invalid`, naming `callback`, when something is wrong.
[[nodiscard]] Result<void> check_callback(std::string_view url, bool allow_http);

}  // namespace routemaster::api
