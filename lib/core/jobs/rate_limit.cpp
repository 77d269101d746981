#include "routemaster/rate_limit.hpp"

#include <string>

#include "routemaster/error.hpp"

namespace routemaster {
namespace {

Result<void> check_limit(const std::string& field, const std::optional<RateLimit>& limit) {
    const auto bad = [&](const char* part, std::int64_t least, std::int64_t most) {
        return Error{Errc::invalid, field + "." + part + ": must be from " + std::to_string(least) +
                                        " to " + std::to_string(most)};
    };
    if (!limit) return {};
    if (limit->jobs < 1 || limit->jobs > rate_limit_jobs_max) {
        return bad("jobs", 1, rate_limit_jobs_max);
    }
    if (limit->per < Duration{1} || limit->per > rate_limit_per_max) {
        return bad("per", 1, rate_limit_per_max.count());
    }
    if (limit->burst > rate_limit_jobs_max) return bad("burst", 0, rate_limit_jobs_max);
    return {};
}

}  // namespace

Result<void> RateLimits::check() const {
    if (auto checked = check_limit("queue", queue); !checked) return checked;
    return check_limit("each_group", each_group);
}

}  // namespace routemaster
