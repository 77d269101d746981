#include "core/jobs/state/ordering_groups.hpp"

#include <algorithm>
#include <cstdint>

#include "core/jobs/state/queue_state.hpp"

namespace routemaster::detail {

namespace {

std::uint64_t next_position(const OrderingGroup& group) {
    return group.jobs.empty() ? 1 : group.jobs.back()->position + 1;
}

}  // namespace

void OrderingGroups::join(GroupedJob& job) {
    job.set_position(next_position(job.group));
    append(job);
}

void OrderingGroups::enter(GroupedJob& job) {
    if (job.position == 0) {
        job.set_position(std::max(job.due_position(), next_position(job.group)));
    }
    append(job);
    set_concurrency(job.group, job.concurrency);
}

void OrderingGroups::append(GroupedJob& job) {
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
    if (job.position == 0) return;
    job.position = 0;
    if (group.first_blocked == &job) group.first_blocked = group.jobs.next(job);
    group.jobs.remove(job);
    if (job.eligible) --group.eligible;
    if (job.queue.has_ids && !group.jobs.empty()) {
        group.concurrency = group.jobs.back()->concurrency;
    }
    fit(group);
}

void OrderingGroups::hold_back(GroupedJob& job) {
    JobPlaces::withdraw(job);
    ++job.queue.blocked;
    if (!job.queue.has_ids) return;
    // Makes the due time of a delayed job equal to the time of joining the group. Redis stores only
    // the latter for a blocked job.
    job.run_at = job.joined_at();
}

void OrderingGroups::fit(OrderingGroup& group) {
    while (group.first_blocked != nullptr && group.eligible < group.limit()) {
        auto& job = *group.first_blocked;
        group.first_blocked = group.jobs.next(job);
        ++group.eligible;
        job.eligible = true;
        if (job.state == JobState::State::ready) {
            --job.queue.blocked;
            // The job is due from now on. With its original due time, the jobs of a long group
            // would precede all other jobs of the queue.
            if (job.queue.has_ids) job.run_at = std::max(job.run_at, now_);
            places_.make_ready(job);
        }
    }
    while (group.eligible > group.limit()) {
        auto& job = *(group.first_blocked == nullptr ? group.jobs.back()
                                                     : group.jobs.previous(*group.first_blocked));
        if (job.state == JobState::State::ready) hold_back(job);
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
