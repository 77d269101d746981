#include "core/jobs/work/leases/dead_search.hpp"

#include <algorithm>
#include <utility>

#include "core/jobs/work/released_jobs_log.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster::detail {

TimePoint DeadSearch::poll(TimePoint now, bool needed) {
    for (const auto& reply : events_->take().events) note(reply, now);
    const auto expected_at = std::exchange(expected_at_, never);
    if (!needed) {
        look_at_ = now + interval_;
        return never;
    }
    // If the clock was set back, pauses until the store has received heartbeats of all live
    // workers.
    look_at_ = std::min(look_at_, now + (look_at_ == never ? interval_ : silence_));
    if (asked_at_) return never;
    // When a process or machine was suspended, all its workers miss heartbeats. A clock set forward
    // has the same symptoms. The search then pauses once. A process that is always late skips every
    // second scrub.
    const bool stood_still = now - interval_ >= expected_at;
    if (stood_still && !stood_still_) look_at_ = now + silence_;
    stood_still_ = stood_still;
    if (now < look_at_) return expected_at_ = std::min(look_at_, now + interval_);
    asked_at_ = now;
    submit(store_, ScrubWorkers{silence_}, now,
           [events = events_.shared()](const Result<ReleasedJobs>& reply) { events->put(reply); });
    return events_->empty() ? never : now;
}

void DeadSearch::note(const Result<ReleasedJobs>& reply, TimePoint now) {
    const auto asked_at = *std::exchange(asked_at_, std::nullopt);
    if (reply) log_released(*reply, log_);
    // While the store was unreachable, no worker could send a heartbeat, so all workers look
    // silent. The search pauses until workers could have sent heartbeats again.
    const bool was_away = !reply || now - asked_at >= 2 * interval_;
    look_at_ = was_away ? now + silence_ : reply->more ? now : asked_at + interval_;
}

}  // namespace routemaster::detail
