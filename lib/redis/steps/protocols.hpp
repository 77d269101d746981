/// @file
/// Builds calls from the protocols of a domain. Included by the files in steps/, which end with
/// `template struct Protocols<…Steps>;`.

#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "redis/script_reply.hpp"
#include "redis/step_call.hpp"

namespace routemaster::redis {

// The script of a step. The object is never destroyed, because the destructor of a static store or
// pool may still send scripts, after the destructors of static objects that were constructed later.

template <class S>
const Script& script_of() {
    static const Script& script = *new const Script{StepProtocol<S>::script()};
    return script;
}

template <class S>
const Script& script_for(const S& step) {
    if constexpr (requires { StepProtocol<S>::ruby_script(); }) {
        static const Script& script = *new const Script{StepProtocol<S>::ruby_script()};
        if (is_ruby_queue(step.queue)) return script;
    }
    if constexpr (requires { StepProtocol<S>::idempotent_script(); }) {
        static const Script& script = *new const Script{StepProtocol<S>::idempotent_script()};
        if (!step.idempotency_key.text.empty()) return script;
    }
    return script_of<S>();
}

template <class S>
const Script& joint_script_of() {
    static const Script& script = *new const Script{StepProtocol<S>::joint_script()};
    return script;
}

template <class S>
Reply read_as(const ScriptReply& reply) {
    return static_cast<typename S::Reply>(StepProtocol<S>::reply(reply));
}

template <class S>
Result<StepCall> call_of(const S& step, const RequestContext& context) {
    using Protocol = StepProtocol<S>;
    if constexpr (requires { Protocol::check_mixed_fleet(step, context); }) {
        if (context.mixed_fleet) {
            if (auto checked = Protocol::check_mixed_fleet(step, context); !checked)
                return checked.error();
        }
    }
    Request request{script_for(step), context};
    Protocol::request(request, step);
    StepCall made{
        request.take_call(), {read_as<S>, request.take_asked_for(), context.clock_offset}, {}};
    if constexpr (requires { Protocol::joint_script(); }) {
        if (Protocol::can_join(step)) made.call.joint = &joint_script_of<S>();
    }
    if constexpr (requires { Protocol::listed_names; }) made.listed_names = Protocol::listed_names;
    return made;
}

template <class S, class... Rest>
Result<StepCall> call_of_one(StepList<S, Rest...>, const Step& step,
                             const RequestContext& context) {
    if constexpr (sizeof...(Rest) > 0) {
        if (!std::holds_alternative<S>(step)) {
            return call_of_one(StepList<Rest...>{}, step, context);
        }
    }
    return call_of(std::get<S>(step), context);
}

template <class... S>
Result<StepCall> Protocols<StepList<S...>>::call(const Step& step, const RequestContext& context) {
    return call_of_one(StepList<S...>{}, step, context);
}

template <class... S>
std::string Protocols<StepList<S...>>::function_named(std::string_view name) {
    std::string function;
    const auto look_at = [&]<class One>(std::type_identity<One>) {
        if (One::traits.name == name) function = as_function(script_of<One>());
    };
    (look_at(std::type_identity<S>{}), ...);
    return function;
}

}  // namespace routemaster::redis
