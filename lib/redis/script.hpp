/// @file
/// A Lua script that the server runs as one atomic step.

#pragma once

#include <string>
#include <string_view>

namespace routemaster::redis {

/// A script and the name the server knows it by.
struct Script {
    std::string_view name;    ///< For logs: the name of its file.
    std::string_view source;  ///< The text, as given to EVAL.
    std::string sha1;         ///< Of `source`, 40 lower-case hexadecimal digits, for EVALSHA.
};

}  // namespace routemaster::redis
