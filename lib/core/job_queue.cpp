#include "routemaster/job_queue.hpp"

#include <utility>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster {

JobQueue::JobQueue(Store& store, std::string name, const Clock& clock)
    : store_{store}, name_{std::move(name)}, clock_{clock} {}

Result<PushOutcome> JobQueue::push(const Job& job, PushOptions options) {
    const auto now = clock_.now();
    return perform(store_, step(job, options, now), now);
}

void JobQueue::push(const Job& job, PushOptions options,
                    std::function<void(Result<PushOutcome>)> done) {
    const auto now = clock_.now();
    submit(store_, step(job, options, now), now, std::move(done));
}

std::vector<Result<PushOutcome>> JobQueue::push_many(std::span<const Job> jobs,
                                                     PushOptions options) {
    const auto now = clock_.now();
    auto many = steps(jobs, options, now);
    auto outcomes = perform_all(store_, many, now);
    return replies(outcomes);
}

void JobQueue::push_many(std::span<const Job> jobs, PushOptions options,
                         std::function<void(std::vector<Result<PushOutcome>>)> done) {
    const auto now = clock_.now();
    auto many = steps(jobs, options, now);
    store_.submit(many, now, [done = std::move(done)](std::span<Outcome> outcomes) {
        done(replies(outcomes));
    });
}

Result<QueueStatus> JobQueue::status() const {
    return perform(store_, CountJobs{name_}, clock_.now());
}

void JobQueue::status(std::function<void(Result<QueueStatus>)> done) const {
    submit(store_, CountJobs{name_}, clock_.now(), std::move(done));
}

PushJob JobQueue::step(const Job& job, const PushOptions& options, TimePoint now) const {
    const auto due = options.run_at.value_or(saturating_add(now, options.delay));
    return {name_, encode_job(job), due};
}

std::vector<Step> JobQueue::steps(std::span<const Job> jobs, const PushOptions& options,
                                  TimePoint now) const {
    std::vector<Step> all;
    all.reserve(jobs.size());
    for (const auto& job : jobs) all.emplace_back(step(job, options, now));
    return all;
}

std::vector<Result<PushOutcome>> JobQueue::replies(std::span<Outcome> outcomes) {
    std::vector<Result<PushOutcome>> all;
    all.reserve(outcomes.size());
    for (auto& outcome : outcomes) all.push_back(reply_of<PushJob>(outcome));
    return all;
}

}  // namespace routemaster
