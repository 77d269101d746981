#include "job_dependencies.hpp"

#include <algorithm>

namespace routemaster::simulation {

void JobDependencies::pushed(const PushJob& step, const Pushed& pushed) {
    last_ = std::max(last_, pushed.id);
    if (pushed != PushOutcome::pushed) return;
    know(pushed.id, {step.queue, step.job});
    const bool waits =
        !step.after.empty() && std::none_of(step.after.begin(), step.after.end(),
                                            [this](JobId id) { return deleted_.contains(id); });
    if (waits) after_[pushed.id] = step.after;
}

void JobDependencies::acquired(const Lease& lease,
                               const std::function<bool(const JobKey&)>& certain) {
    if (done_.contains({lease.queue, lease.id})) {
        context_.fail("job " + std::to_string(lease.id) +
                      " was leased again after the job that depends on it");
    }
    know(lease.id, {lease.queue, lease.job});
    const auto found = after_.find(lease.id);
    if (found == after_.end()) return;
    for (const auto id : found->second) {
        const auto key = key_of(id);
        if (key && key->first == lease.queue && certain(*key)) {
            context_.fail("job " + std::to_string(lease.id) +
                          " was leased before its dependency, job " + std::to_string(id) +
                          ", was done");
        }
        done_.emplace(lease.queue, id);
    }
    after_.erase(found);
}

void JobDependencies::know(JobId id, const JobKey& key) {
    keys_[id] = key;
    ids_[key] = id;
}

void JobDependencies::deleting(JobId id) {
    deleted_.insert(id);
    std::erase_if(after_, [id](const auto& waiting) {
        const auto& awaited = waiting.second;
        return std::find(awaited.begin(), awaited.end(), id) != awaited.end();
    });
}

std::optional<JobDependencies::JobKey> JobDependencies::key_of(JobId id) const {
    const auto found = keys_.find(id);
    if (found == keys_.end() || ids_.at(found->second) != id) return std::nullopt;
    return found->second;
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
