#include "core/state/ordering_groups.hpp"

#include <algorithm>

#include "core/state/queue_state.hpp"

namespace routemaster::detail {

void OrderingGroups::join(GroupedJob& job) {
    auto& group = job.group;
    group.jobs.push_back(job);
    job.eligible = group.first_blocked == nullptr && group.eligible < group.limit();
    if (job.eligible) {
        ++group.eligible;
    } else if (group.first_blocked == nullptr) {
        group.first_blocked = &job;
    }
}

void OrderingGroups::leave(GroupedJob& job) {
    auto& group = job.group;
    if (group.first_blocked == &job) group.first_blocked = group.jobs.next(job);
    group.jobs.remove(job);
    if (job.eligible) --group.eligible;
    fit(group);
}

void OrderingGroups::fit(OrderingGroup& group) {
    while (group.first_blocked != nullptr && group.eligible < group.limit()) {
        auto& job = *group.first_blocked;
        group.first_blocked = group.jobs.next(job);
        ++group.eligible;
        job.eligible = true;
        if (job.state == JobState::State::ready) {
            --job.queue.blocked;
            places_.make_ready(job);
        }
    }
    while (group.eligible > group.limit()) {
        auto& job = *(group.first_blocked == nullptr ? group.jobs.back()
                                                     : group.jobs.previous(*group.first_blocked));
        if (job.state == JobState::State::ready) {
            JobPlaces::withdraw(job);
            ++job.queue.blocked;
        }
        group.first_blocked = &job;
        --group.eligible;
        job.eligible = false;
    }
}

void OrderingGroups::set_concurrency(OrderingGroup& group, std::uint32_t concurrency) {
    group.concurrency = concurrency;
    fit(group);
}

void OrderingGroups::narrow(OrderingGroup& group, std::uint32_t most) {
    if (group.limit() <= most) return;
    group.window = most;
    fit(group);
}

void OrderingGroups::adapt(OrderingGroup& group, bool success, std::uint32_t most) {
    if (group.concurrency == 1) return;
    const auto begin = std::min(group.concurrency, OrderingGroup::start);
    const auto before = group.limit();
    const auto after = success || before < begin ? before + 1 : std::max(before - 2, begin);
    const auto window = std::min({after, most, group.concurrency});
    group.window = window == begin ? OrderingGroup::start : window;
    fit(group);
}

}  // namespace routemaster::detail
