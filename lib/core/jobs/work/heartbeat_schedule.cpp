#include "core/jobs/work/heartbeat_schedule.hpp"

#include <algorithm>
#include <utility>

namespace routemaster::detail {

bool HeartbeatSchedule::sent(TimePoint now) {
    // When a process or machine was suspended, all its workers miss heartbeats. A clock set forward
    // has the same symptoms. The worker then skips a scrub, because the store must first receive
    // heartbeats of all live workers. A worker with constantly late polls skips every second scrub.
    const bool late = last_sent_ <= now && !skipped_scrub_ && now - last_sent_ >= 2 * interval_;
    skipped_scrub_ = late;
    // Steps that are sent to an unreachable store wait. When the store is reachable again, it may
    // perform a scrub before it receives the heartbeats of live workers. The worker therefore does
    // not scrub before `silence_` has passed since then.
    const bool away =
        heard_at_ != never && last_sent_ <= now && last_sent_ - heard_at_ >= away_after();
    store_was_away_ = store_was_away_ || away;
    last_sent_ = now;
    if (first_sent_ == never) first_sent_ = now;
    next_ = now + interval_;
    return !late && !away && now >= scrubs_from_;
}

bool HeartbeatSchedule::heard(TimePoint sent_at, TimePoint now) {
    // The store has received this heartbeat. If the previous heartbeat is more recent than
    // `silence_`, no scrub can have ended the worker's leases in between.
    const auto heard_before = heard_at_ != never ? heard_at_ : first_sent_;
    const bool may_have_lost = now - heard_before >= silence_;
    // During this time the store received no heartbeat of any worker, so all workers look silent.
    // This worker skips scrubs until all workers could have sent heartbeats again.
    if (std::exchange(store_was_away_, false) || now - sent_at >= away_after()) {
        scrubs_from_ = now + silence_;
    }
    heard_at_ = sent_at;
    return may_have_lost;
}

bool HeartbeatSchedule::certainly_alive(TimePoint now) const noexcept {
    return heard_at_ != never && now - heard_at_ < std::min(away_after(), silence_);
}

void HeartbeatSchedule::clock_set_back(TimePoint now) {
    scrubs_from_ = std::min(scrubs_from_, now + silence_);
    heard_at_ = heard_at_ == never ? never : std::min(heard_at_, now);
    first_sent_ = first_sent_ == never ? never : std::min(first_sent_, now);
}

}  // namespace routemaster::detail
