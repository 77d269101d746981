#include "step_call.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "routemaster/error.hpp"
#include "script_reply.hpp"

namespace routemaster::redis {
namespace {

template <class... Lists>
void add_all_scripts(detail::Domains<Lists...>, std::vector<const Script*>& scripts) {
    (Protocols<Lists>::add_scripts(scripts), ...);
}

}  // namespace

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

std::vector<const Script*> step_scripts() {
    std::vector<const Script*> scripts;
    add_all_scripts(StepDomains{}, scripts);
    // Kinds of steps may share one.
    const auto by_sha1 = [](const Script* a, const Script* b) { return a->sha1 < b->sha1; };
    const auto is_same = [](const Script* a, const Script* b) { return a->sha1 == b->sha1; };
    std::sort(scripts.begin(), scripts.end(), by_sha1);
    scripts.erase(std::unique(scripts.begin(), scripts.end(), is_same), scripts.end());
    return scripts;
}

}  // namespace routemaster::redis
