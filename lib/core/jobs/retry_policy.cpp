#include "routemaster/retry_policy.hpp"

#include <algorithm>

namespace routemaster {

Duration RetryPolicy::wait_after(std::uint32_t attempts, double chance) const {
    const auto longest = static_cast<double>(wait_max.count());
    auto wait = static_cast<double>(wait_first.count());
    for (std::uint32_t i = 1; i < attempts && wait < longest && factor > 1; ++i) wait *= factor;
    wait = std::min(wait, longest);
    return Duration{static_cast<Duration::rep>(wait + wait * jitter * chance)};
}

const RetryRule* RetryPolicy::rule_for(const std::exception& error) const {
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const RetryRule& any) { return any.applies(error); });
    return rule == rules.end() ? nullptr : &*rule;
}

}  // namespace routemaster
