/// @file
/// What every store promises, as a list of cases that belongs to no test framework.
///
///     for (const auto& one : routemaster::testing::store_conformance()) {
///         one.run({[] { return std::make_unique<MyStore>(); }});  // throws when it fails
///     }
///
/// The cases tell every step the time, need no server and no clock, and hold for stores that
/// answer inside `submit` as well as for those that answer from a thread of their own. What
/// happens when a process dies is for each store's own tests.

#pragma once

#include <vector>

#include "routemaster/testing/conformance/batches.hpp"
#include "routemaster/testing/conformance/case.hpp"
#include "routemaster/testing/conformance/counters.hpp"
#include "routemaster/testing/conformance/dead_batches.hpp"
#include "routemaster/testing/conformance/deliveries.hpp"
#include "routemaster/testing/conformance/jobs.hpp"
#include "routemaster/testing/conformance/lanes.hpp"
#include "routemaster/testing/conformance/leases.hpp"
#include "routemaster/testing/conformance/room.hpp"
#include "routemaster/testing/conformance/submissions.hpp"
#include "routemaster/testing/conformance/subscribers.hpp"
#include "routemaster/testing/conformance/topics.hpp"
#include "routemaster/testing/conformance/walk.hpp"
#include "routemaster/testing/conformance/watches.hpp"

namespace routemaster::testing {

/// All cases. Their names are unique; each opens a store of its own, so they run in any order.
[[nodiscard]] inline std::vector<StoreCase> store_conformance() {
    StoreCases add;
    add_topic_cases(add);
    add_subscription_cases(add);
    add_subscriber_removal_cases(add);
    add_token_cases(add);
    add_publishing_cases(add);
    add_due_cases(add);
    add_sealing_cases(add);
    add_lane_cases(add);
    add_push_cases(add);
    add_acquire_cases(add);
    add_lease_cases(add);
    add_lost_reply_cases(add);
    add_worker_cases(add);
    add_delivery_cases(add);
    add_health_cases(add);
    add_death_cases(add);
    add_dead_letter_cases(add);
    add_room_cases(add);
    add_counter_cases(add);
    add_watch_cases(add);
    add_submission_cases(add);
    add_walk_cases(add);
    return add.take();
}

}  // namespace routemaster::testing
