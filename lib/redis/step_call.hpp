/// @file
/// Steps as calls: which script performs a step, with which arguments, and what its reply means.
///
/// Each kind of step says that in one place, a specialisation of `StepProtocol` in steps/, by
/// domain. Its script stands in lua/, beginning with its contract.

#pragma once

#include <string>
#include <string_view>

#include "call.hpp"
#include "request.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"

namespace routemaster::redis {

struct ScriptReply;

/// How steps of one kind travel.
///
///     template <>
///     struct StepProtocol<RemoveTopic> {
///         /// Composed of parts, and the text of lua/remove_topic.lua.
///         static Script script();
///         /// Puts the arguments together.
///         static void request(Request& request, const RemoveTopic& step);
///         /// Throws `Unexpected` when the reply is none of the script's, and `Failure` when the
///         /// script refused the step.
///         static Removal reply(const ScriptReply& reply);
///     };
///
/// It may also have `check_mixed_fleet(step, context)`, which says what is wrong with a step where
/// Ruby processes share the server; `ruby_script()`, a shorter one for the queues of Ruby
/// Routemaster, whose jobs have no ids; `idempotent_script()`, the one for steps with an
/// idempotency key; `joint_script()`, which runs several steps, one after the
/// other, and `can_join(step)`, whether that step can be one of them: then `request` has told the
/// arguments where the step's own ones begin; and `listed_names`, the key, without its prefix, of
/// the set or hash whose names the step lists by lua/parts/page.lua.
template <class S>
struct StepProtocol;

/// What is needed to understand the reply to a step.
struct ReplyReader {
    /// The outcome that a result amounts to. `corrupted` when the reply has another form than the
    /// script's.
    [[nodiscard]] Outcome read(const CallResult& result) const;

    Reply (*read_as)(const ScriptReply& reply);
    AskedFor asked_for;
    Duration clock_offset;
};

/// A step that is ready to be sent.
struct StepCall {
    Call call;  ///< `done` is left to the caller.
    ReplyReader reader;
    std::string_view listed_names;  ///< As of its `StepProtocol`; empty when it lists none.
};

/// The call that performs a step. `invalid` when something is wrong with the step itself, so that
/// the server need not be asked.
[[nodiscard]] Result<StepCall> step_call(const Step& step, const RequestContext& context);

/// The calls and scripts of one domain. Instantiated in steps/, where its protocols are.
template <class List>
struct Protocols;
template <class... S>
struct Protocols<StepList<S...>> {
    static Result<StepCall> call(const Step& step, const RequestContext& context);
    /// The script of one step, as a function of its name; empty when it is of another domain.
    static std::string function_named(std::string_view name);
};

}  // namespace routemaster::redis
