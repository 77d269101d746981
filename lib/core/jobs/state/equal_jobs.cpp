#include "core/jobs/state/equal_jobs.hpp"

namespace routemaster::detail {

EqualJobs::EqualJobs(JobTable& jobs, const std::vector<PushJob>& pushes, const JobState* done) {
    found_.reserve(pushes.size());
    for (const auto& push : pushes) {
        const auto* queue = jobs.queues().find(push.queue);
        const bool keyed = !push.options.key.text.empty();
        const auto* found = keyed || queue == nullptr ? nullptr : jobs.find(*queue, push.job);
        found_.push_back(found == done ? nullptr : found);
    }
}

std::optional<JobId> EqualJobs::of(const PushJob& push, std::size_t place) const {
    if (const auto* found = found_[place]) return found->queue.has_ids ? found->order : 0;
    const auto earlier = pushed_.find({push.queue, push.job});
    if (earlier == pushed_.end()) return std::nullopt;
    return earlier->second;
}

}  // namespace routemaster::detail
