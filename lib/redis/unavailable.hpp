/// @file
/// The error for a server that cannot be reached or used.

#pragma once

#include <string>
#include <utility>

#include "routemaster/error.hpp"

namespace routemaster::redis {

inline Error unavailable(std::string why) { return {Errc::unavailable, std::move(why)}; }

}  // namespace routemaster::redis
