#include "core/jobs/state/jobs.hpp"

namespace routemaster::detail {

std::string_view text_of(JobFate fate) noexcept {
    switch (fate) {
        case JobFate::deleted: return "was deleted";
        case JobFate::cancelled: return "was cancelled";
        case JobFate::expired: return "has expired";
        case JobFate::forgotten: return "was forgotten";
    }
    return {};
}

void JobTable::leave_batch(const JobState& job, JobFate fate) {
    const auto id = job.batch();
    if (id == 0) return;
    if (job.state == JobState::State::buried) batches_.exhume(id);
    switch (fate) {
        case JobFate::deleted:
        case JobFate::cancelled: return batches_.end(id, &JobBatchProgress::cancelled);
        case JobFate::expired: return batches_.end(id, &JobBatchProgress::expired);
        case JobFate::forgotten: return batches_.end(id, &JobBatchProgress::forgotten);
    }
}

Result<void> JobTable::may_push(const PushJob& step) const {
    if (auto may = may_wait(step); !may) return may;
    return batches_.may_join(step.options.batch);
}

void JobTable::settle_batches(TimePoint now) {
    if (!batches_.has_touched()) return;
    batches_.settle(now, [&](const PushJob& push) {
        // The callback job belongs to no batch. If another job has its key, that job loses the key.
        return add_with_key(push, now).id;
    });
}

}  // namespace routemaster::detail
