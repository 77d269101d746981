#include <algorithm>
#include <optional>

#include "core/jobs/state/job_reports.hpp"

namespace routemaster::detail {
namespace {

std::optional<TimePoint> due_since(const QueueState& queue, TimePoint now) {
    if (!queue.has_ids) return std::nullopt;
    std::optional<TimePoint> since;
    if (const auto* first = queue.ready.front()) since = first->run_at;
    if (!queue.ranked.empty()) {
        const auto at = queue.ranked.first().run_at;
        since = std::min(at, since.value_or(at));
    }
    if (queue.rates != nullptr && queue.rates->throttled() > 0) {
        const auto at = queue.rates->throttled_since();
        since = std::min(at, since.value_or(at));
    }
    if (!queue.scheduled.empty()) {
        const auto at = queue.scheduled.first().run_at;
        if (at <= now) since = std::min(at, since.value_or(at));
    }
    return since;
}

}  // namespace

std::vector<ListedQueue> JobReports::list(const QueueTable& queues, const Page& page,
                                          TimePoint now) const {
    const auto workers = workers_.count_by_queue(now);
    const auto count_of = [&workers](std::string_view name) {
        const auto found = workers.find(name);
        return found == workers.end() ? 0 : found->second;
    };
    std::vector<ListedQueue> all;
    for (auto at = queues.all().upper_bound(page.after); at != queues.all().end(); ++at) {
        if (all.size() == page.limit) break;
        const auto& queue = at->second;
        if (queue.jobs.empty() && !queue.paused && !queue.limited()) continue;
        all.push_back({.name = queue.name,
                       .status = count(queue, now),
                       .due_since = due_since(queue, now),
                       .limits = queue.limited() ? queue.rates->limits() : RateLimits{},
                       .workers = count_of(queue.name),
                       .unprofiled = count_of(""),
                       .worker_at = workers_.last_of(queue.name)});
    }
    return all;
}

}  // namespace routemaster::detail
