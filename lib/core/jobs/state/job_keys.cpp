#include "core/jobs/state/job_keys.hpp"

namespace routemaster::detail {
namespace {

const JobKey& key_of(const JobState& job) { return job.details->options.key; }

}  // namespace

JobState* JobKeys::find(const QueueState& queue, const std::string& key) {
    return queue.keys.find(payload_hash(key),
                           [&](const JobState& any) { return key_of(any).text == key; });
}

bool JobKeys::has(const JobState& job) {
    return job.has_key() && find(job.queue, key_of(job).text) == &job;
}

JobState* JobKeys::owner(const QueueState& queue, const std::string& key, TimePoint now) {
    auto* job = find(queue, key);
    if (job == nullptr) return nullptr;
    const auto& own = key_of(*job);
    return own.scope == KeyScope::for_time && own.until <= now ? nullptr : job;
}

void JobKeys::take(JobState& job) {
    auto& keys = job.queue.keys;
    const auto& key = key_of(job).text;
    const auto hash = payload_hash(key);
    if (const auto* before = find(job.queue, key)) keys.remove(hash, *before);
    keys.insert(hash, job);
}

void JobKeys::release(JobState& job) {
    if (has(job)) job.queue.keys.remove(payload_hash(key_of(job).text), job);
}

void JobKeys::done(const JobState& job, TimePoint now) {
    if (!has(job)) return;
    const auto& key = key_of(job);
    if (key.scope != KeyScope::for_time || key.until <= now) return;
    kept_.keep(job.queue.name, key.text, key.until, now);
}

void JobKeys::restore(JobState& job) {
    if (!job.has_key()) return;
    const auto& key = key_of(job);
    if (key.scope == KeyScope::until_started && job.details->begun) return;
    const auto* other = find(job.queue, key.text);
    if (other == nullptr || other->order < job.order) take(job);
}

}  // namespace routemaster::detail
