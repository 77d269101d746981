#include "routemaster/step/jobs.hpp"

#include "routemaster/step/job_lists.hpp"

namespace routemaster {
namespace {

Result<void> check_page_limit(std::uint32_t limit) {
    if (limit >= 1 && limit <= jobs_looked_at_max) return {};
    return Error{Errc::invalid, "limit: must be from 1 to " + std::to_string(jobs_looked_at_max)};
}

}  // namespace

Result<void> PushJob::check() const {
    if (auto checked = check_queue(queue); !checked) return checked;
    if (auto checked = check_not_empty("job", job); !checked) return checked;
    if (options.timeout < Duration{0}) {
        return Error{Errc::invalid, "timeout: must not be negative"};
    }
    if (is_ruby_queue(queue) && options != JobOptions{}) {
        return Error{Errc::invalid, "options: jobs of Ruby Routemaster's queues have none"};
    }
    return {};
}

Result<void> AcquireJobs::check() const {
    if (auto checked = check_queue(queue); !checked) return checked;
    return check_limit(limit);
}

Result<void> ListJobs::check() const {
    if (auto checked = check_own_queue(queue); !checked) return checked;
    return check_page_limit(limit);
}

Result<void> KickJobs::check() const {
    if (auto checked = check_own_queue(queue); !checked) return checked;
    return check_page_limit(limit);
}

}  // namespace routemaster
