/// @file
/// `Script`: a Lua script that the server runs as an atomic step.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "routemaster/store/step/traits.hpp"

namespace routemaster::redis {

struct Script {
    std::string_view name;  ///< The name of its source file, for logs.
    std::string source;
    std::string sha1;  ///< SHA-1 of `source` for EVALSHA, 40 lower-case hexadecimal digits.
};

/// How a script uses memory, as declared to the server. A script of kind `frees` is run even when
/// the server's memory is full, because it frees more memory than it takes. A script of kind
/// `reads` is run even by a replica.
enum class ScriptKind { grows, frees, reads };

[[nodiscard]] ScriptKind script_kind(const StepTraits& traits);

/// Script fragments from lua/parts/. A fragment must be listed behind all fragments called by it.
using LuaParts = std::initializer_list<std::string_view>;

/// Generates a Lua function `name`. It defines the functions of the fragments and returns
/// `functions`. Defining functions takes time in every call of a script, so functions that are
/// rarely needed are defined on demand.
[[nodiscard]] std::string lazily(std::string_view name, LuaParts parts, std::string_view functions);

/// Composes a script from the head that all scripts have, the fragments, and the body.
[[nodiscard]] Script compose(std::string_view name, ScriptKind kind, LuaParts parts,
                             std::string_view body);

[[nodiscard]] inline Script compose(const StepTraits& traits, LuaParts parts,
                                    std::string_view body) {
    return compose(traits.name, script_kind(traits), parts, body);
}

/// Generates a Lua function from a script, with the name of the script and the parameters `KEYS`
/// and `ARGV`. All scripts have the first three elements of `ARGV` in common.
[[nodiscard]] std::string as_function(const Script& script);

}  // namespace routemaster::redis
