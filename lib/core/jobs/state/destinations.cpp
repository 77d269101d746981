#include "core/jobs/state/destinations.hpp"

#include <string>
#include <utility>

namespace routemaster::detail {

void Destinations::direct(OrderingGroup& group, std::string_view callback) {
    if (callback.empty()) return direct(group, nullptr, nullptr);
    auto& callbacks = deliveries_.callbacks;
    auto found = callbacks.find(callback);
    if (found == callbacks.end()) {
        found = callbacks.try_emplace(std::string{callback}).first;
        found->second.name = found->first;
    }
    direct(group, &found->second.ready, &found->second);
    // After a restart, a process registers its callbacks again. Its workers must then acquire the
    // deliveries that are waiting.
    wake_ups_.wake_callbacks(deliveries_);
}

void Destinations::direct(OrderingGroup& group, ReadyJobs* ready, CallbackState* callback) {
    if (group.ready == ready) return;
    std::vector<JobState*> moved;
    for (auto* job = group.jobs.front(); job != group.first_blocked; job = group.jobs.next(*job)) {
        if (job->state != JobState::State::ready) continue;
        JobPlaces::withdraw(*job);
        moved.push_back(job);
    }
    auto* before = std::exchange(group.callback, callback);
    if (callback != nullptr) ++callback->groups;
    group.ready = ready;
    for (auto* job : moved) places_.offer(*job);
    if (before == nullptr || --before->groups > 0) return;
    deliveries_.callbacks.erase(deliveries_.callbacks.find(before->name));
}

std::vector<ReadyJobs*> Destinations::sources_of(const AcquireJobs& step) {
    auto& queue = deliveries_;
    if (!step.destinations) return {&queue.abandoned, &queue.ready};
    std::vector<ReadyJobs*> sources{&queue.abandoned};
    for (const auto& name : *step.destinations) {
        const auto found = queue.callbacks.find(name);
        if (name.empty()) sources.push_back(&queue.ready);
        if (found != queue.callbacks.end()) sources.push_back(&found->second.ready);
    }
    return sources;
}

}  // namespace routemaster::detail
