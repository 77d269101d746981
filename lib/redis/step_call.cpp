#include "step_call.hpp"

#include <type_traits>
#include <variant>

#include "routemaster/error.hpp"
#include "script_reply.hpp"

namespace routemaster::redis {

Outcome ReplyReader::read(const CallResult& result) const {
    if (!result) return result.error();
    try {
        return read_as({**result, asked_for, clock_offset});
    } catch (const Unexpected&) {
        return Error{Errc::corrupted, "the server's reply is not what the script promises"};
    } catch (const Failure& refusal) {
        return refusal.error();
    }
}

Result<StepCall> step_call(const Step& step, const RequestContext& context) {
    return std::visit(
        [&](const auto& any) -> Result<StepCall> {
            if (auto checked = any.check(); !checked) return checked.error();
            return Protocols<DomainOf<std::decay_t<decltype(any)>>>::call(step, context);
        },
        step);
}

}  // namespace routemaster::redis
