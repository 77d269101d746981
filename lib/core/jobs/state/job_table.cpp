#include "core/jobs/state/job_table.hpp"

#include <algorithm>
#include <vector>

namespace routemaster::detail {

JobTable::JobTable(ChangeLog& changes, CounterTable& counters)
    : changes_{changes},
      counters_{counters},
      last_id_{sequence("jobs")},
      reservations_{changes, sequence("fences"), sequence("begun")},
      batches_{changes, counters, sequence("job_batches")},
      crashes_{changes, counters, *this} {}

SequenceState& JobTable::sequence(const char* name) {
    auto& last = sequences_.open(name);
    last.label = name;
    return last;
}

JobTable::~JobTable() {
    for (auto& [name, queue] : queues_.all()) {
        queue.jobs.each([this](JobState& job) { destroy(job); });
    }
}

JobState* JobTable::find(const QueueState& queue, std::string_view job, std::uint32_t hash) const {
    return queue.jobs.find(hash, [&](const JobState& any) {
        if (any.payload.size() != job.size() || any.has_key()) return false;
        return any.payload.resident() ? any.payload.text() == job : changes_.same(any, job);
    });
}

JobState& JobTable::make(QueueState& queue, std::string_view job, std::uint32_t hash,
                         TimePoint run_at, std::uint64_t order, OrderingGroup* group) {
    auto& state = group == nullptr
                      ? states_.make(payloads_, queue, job, hash, run_at, order)
                      : grouped_.make(*group, payloads_, queue, job, hash, run_at, order);
    order_ = std::max(order_, order);
    if (group != nullptr && queue.has_ids) ++group->members;
    if (queue.has_ids) last_id_.last = std::max(last_id_.last, order);
    queue.jobs.insert(hash, state);
    return state;
}

void JobTable::destroy(JobState& job) noexcept {
    job.payload.free(payloads_);
    job.in_order ? grouped_.destroy(grouped(job)) : states_.destroy(job);
}

void JobTable::end(JobState& job) {
    auto& queue = job.queue;
    auto* group = queue.has_ids ? job.group() : nullptr;
    queue.jobs.remove(job.payload.hash(), job);
    destroy(job);
    if (group != nullptr && --group->members == 0) queue.groups.close(*group);
    if (queue.jobs.empty() && !queue.of_deliveries) queues_.note_empty(queue);
}

void JobTable::each(const std::function<void(JobState&)>& visit) {
    for (auto& [name, queue] : queues_.all()) {
        std::vector<JobState*> all;
        all.reserve(queue.jobs.size());
        queue.jobs.each([&](JobState& job) { all.push_back(&job); });
        std::sort(all.begin(), all.end(),
                  [](const JobState* a, const JobState* b) { return a->order < b->order; });
        for (auto* job : all) visit(*job);
    }
}

std::vector<std::string> JobTable::take_woken() {
    for (const auto& name : wake_ups_.names()) {
        if (auto* queue = queues_.find(name)) queue->woken = false;
    }
    queues_.deliveries().callbacks_woken = false;
    return wake_ups_.take();
}

}  // namespace routemaster::detail
