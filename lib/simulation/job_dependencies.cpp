#include "job_dependencies.hpp"

#include <algorithm>
#include <string>

namespace routemaster::simulation {

void JobDependencies::pushed(const PushJob& step, const Pushed& pushed) {
    last_ = std::max(last_, pushed.id);
    if (pushed == PushOutcome::pushed && !step.after.empty()) after_[pushed.id] = step.after;
}

void JobDependencies::acquired(const Lease& lease) {
    if (done_.contains(lease.id)) {
        context_.fail("job " + std::to_string(lease.id) +
                      " is leased after a job that had to wait for it");
    }
    const auto found = after_.find(lease.id);
    if (found == after_.end()) return;
    done_.insert(found->second.begin(), found->second.end());
    after_.erase(found);
}

std::vector<JobId> JobDependencies::draw() {
    std::vector<JobId> some;
    for (auto left = context_.random.below(4); left > 0; --left) {
        const auto id = last_ - std::min(last_, context_.random.below(10));
        if (id > 0) some.push_back(id);
    }
    return some;
}

}  // namespace routemaster::simulation
