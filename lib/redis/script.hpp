/// @file
/// A Lua script that the server runs as one atomic step.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "routemaster/step/traits.hpp"

namespace routemaster::redis {

/// A script and the name the server knows it by.
struct Script {
    std::string_view name;  ///< For logs: the file it stands in.
    std::string source;     ///< The text, as given to EVAL.
    std::string sha1;       ///< Of `source`, 40 lower-case hexadecimal digits, for EVALSHA.
};

/// What the server may assume of a script. One that frees more than it takes is run even when the
/// memory is full; one that only reads is run on anything.
enum class ScriptKind { grows, frees, reads };

/// The kind of script that performs steps of these traits.
[[nodiscard]] ScriptKind script_kind(const StepTraits& traits);

/// Sources of lua/parts/, each behind those that it calls.
using LuaParts = std::initializer_list<std::string_view>;

/// Parts that make their functions only when they are asked for, since each function made costs
/// time in every call of a script: calling `name` gives `functions`.
[[nodiscard]] std::string lazily(std::string_view name, LuaParts parts, std::string_view functions);

/// Puts a script together: what all begin with, the parts, and its own text.
[[nodiscard]] Script compose(std::string_view name, ScriptKind kind, LuaParts parts,
                             std::string_view body);

/// The same of the script that performs one kind of step, and bears its name.
[[nodiscard]] inline Script compose(const StepTraits& traits, LuaParts parts,
                                    std::string_view body) {
    return compose(traits.name, script_kind(traits), parts, body);
}

/// A script inside another: a function of its name, with its arguments `KEYS` and `ARGV`, whose
/// first three are those of all scripts.
[[nodiscard]] std::string as_function(const Script& script);

}  // namespace routemaster::redis
