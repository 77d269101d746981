/// @file
/// A Lua script, run by the server as an atomic step.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "routemaster/step/traits.hpp"

namespace routemaster::redis {

/// A script, with its name on the server.
struct Script {
    std::string_view name;  ///< For logs: the name of its file.
    std::string source;     ///< The text for EVAL.
    std::string sha1;       ///< Of `source`, 40 lower-case hexadecimal digits, for EVALSHA.
};

/// How a script uses memory, as declared to the server. `frees` runs even when the memory is full,
/// because the script frees more memory than it takes. `reads` runs on any server.
enum class ScriptKind { grows, frees, reads };

/// Returns the kind of script for steps with these traits.
[[nodiscard]] ScriptKind script_kind(const StepTraits& traits);

/// Sources from lua/parts/. A part stands behind the parts it calls.
using LuaParts = std::initializer_list<std::string_view>;

/// Makes a Lua function `name`, which defines the functions of the parts and returns `functions`.
/// Creating functions costs time in every call of a script; rarely used parts are therefore created
/// on demand.
[[nodiscard]] std::string lazily(std::string_view name, LuaParts parts, std::string_view functions);

/// Composes a script: the common beginning, the parts, and its own text.
[[nodiscard]] Script compose(std::string_view name, ScriptKind kind, LuaParts parts,
                             std::string_view body);

/// Composes the script of one kind of step, with the name of the step.
[[nodiscard]] inline Script compose(const StepTraits& traits, LuaParts parts,
                                    std::string_view body) {
    return compose(traits.name, script_kind(traits), parts, body);
}

/// Makes a Lua function of a script, with the name of the script and the parameters `KEYS` and
/// `ARGV`. The first three elements of `ARGV` are common to all scripts.
[[nodiscard]] std::string as_function(const Script& script);

}  // namespace routemaster::redis
