#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "core/jobs/state/job_domain.hpp"
#include "core/store/store_errors.hpp"

namespace routemaster::detail {

Result<void> JobDomain::may_complete(const JobState& job) const {
    if (batches_.delivered_by(job) == nullptr) return {};
    return Error{Errc::invalid, "lease: a delivery must be settled by SettleDelivery"};
}

Result<void> JobDomain::may_push_all(const std::vector<PushJob>& pushes) {
    std::set<std::string_view> fresh;
    for (std::size_t i = 0; i < pushes.size(); ++i) {
        const auto& queue = pushes[i].queue;
        auto may = jobs_.batches().may_join(pushes[i].options.batch);
        if (!may) return at_place("pushes", i, may.error());
        const auto* present = jobs_.queues().find(queue);
        if (present != nullptr && (present->kept() || !present->jobs.empty())) continue;
        fresh.insert(queue);
        if (jobs_.queues().lasting() + fresh.size() <= limits_.queues_max) continue;
        return at_place("pushes", i, too_many_queues());
    }
    return {};
}

std::vector<Pushed> JobDomain::push_all(const std::vector<PushJob>& pushes, EqualJobs& equal) {
    std::vector<Pushed> pushed;
    pushed.reserve(pushes.size());
    for (std::size_t i = 0; i < pushes.size(); ++i) {
        const auto& push = pushes[i];
        if (!push.options.key.text.empty()) {
            // `value()` cannot throw: the push waits for no jobs, and its batch and queue were
            // checked.
            pushed.push_back(push_with_key(push).value());
        } else if (const auto id = equal.of(push, i)) {
            pushed.push_back({PushOutcome::duplicate, *id});
        } else {
            pushed.push_back(
                push_new(jobs_.queues().open(push.queue), push, payload_hash(push.job)));
            equal.add(push, pushed.back().id);
        }
    }
    return pushed;
}

}  // namespace routemaster::detail
