/// @file
/// Converts steps to calls: selects the script, encodes the arguments, and parses the reply.
///
/// Each kind of step has a specialisation of `StepProtocol` in steps/, by domain. Its script is in
/// lua/ and begins with a description of its contract.

#pragma once

#include <string>
#include <string_view>

#include "call.hpp"
#include "request.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::redis {

struct ScriptReply;

/// The protocol of one kind of step.
///
///     template <>
///     struct StepProtocol<RemoveTopic> {
///         /// Composed of parts, and the text of lua/remove_topic.lua.
///         static Script script();
///         /// Adds the arguments.
///         static void request(Request& request, const RemoveTopic& step);
///         /// Throws `Unexpected` for a reply that the script never makes, and `Failure` when the
///         /// script refused the step.
///         static Removal reply(const ScriptReply& reply);
///     };
///
/// Optional members:
/// - `check_mixed_fleet(step, context)` returns why a mixed deployment, where Ruby processes share
///   the server, refuses a step.
/// - `ruby_script()` returns a shorter script for the queues `main` and `aux`, whose jobs have no
/// ids.
/// - `idempotent_script()` returns the script for steps with an idempotency key.
/// - `joint_script()` returns a script that performs several steps in order, and `can_join(step)`
///   says whether a step may be among them. `request` must then call `begin_own` where the common
///   arguments end.
/// - `listed_names` is the key, without prefix, of the set or hash whose names the step lists with
///   lua/parts/page.lua.
template <class S>
struct StepProtocol;

struct ReplyReader {
    /// Converts the result of a call to the `Outcome` of its step. `corrupted` if the reply has a
    /// form that the script cannot have sent.
    [[nodiscard]] Outcome read(const CallResult& result) const;

    Reply (*read_as)(const ScriptReply& reply);
    AskedFor asked_for;
    Duration clock_offset;
};

struct StepCall {
    Call call;  ///< The caller sets `done`.
    ReplyReader reader;
    std::string_view listed_names;  ///< As in `StepProtocol`. Empty if the step lists no names.
};

/// Builds the call that performs a step. `invalid` if the step is invalid; the server is then not
/// contacted.
[[nodiscard]] Result<StepCall> step_call(const Step& step, const RequestContext& context);

/// Table of the calls and scripts of one domain. Instantiated in steps/, where the protocols of the
/// domain are declared.
template <class List>
struct Protocols;
template <class... S>
struct Protocols<StepList<S...>> {
    static Result<StepCall> call(const Step& step, const RequestContext& context);
    /// Returns the script of a step as a Lua function with the name of the step. Empty for a step
    /// of another domain.
    static std::string function_named(std::string_view name);
};

}  // namespace routemaster::redis
