#include <set>
#include <string_view>
#include <vector>

#include "core/store/store_errors.hpp"
#include "core/timers/state/timer_domain.hpp"

namespace routemaster::detail {

Result<void> TimerDomain::may_post_all(const std::vector<PostTimer>& timers) const {
    std::set<std::string_view> fresh;
    for (std::size_t i = 0; i < timers.size(); ++i) {
        const auto& space = timers[i].space;
        if (!adds_namespace(space)) continue;
        fresh.insert(space);
        if (counted_namespaces() + fresh.size() <= limits_.timer_namespaces_max) continue;
        return at_place("timers", i, too_many_namespaces());
    }
    return {};
}

std::vector<TimerPosted> TimerDomain::post_all(const std::vector<PostTimer>& timers) {
    std::vector<TimerPosted> posted;
    posted.reserve(timers.size());
    for (const auto& timer : timers) posted.push_back(timers_.post(timer, scope_.now));
    return posted;
}

}  // namespace routemaster::detail
