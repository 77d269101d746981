#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <variant>

#include "core/containers/prefetch.hpp"
#include "core/jobs/state/job_table.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

void JobTable::fetch_ahead(std::span<const Step> steps) const noexcept {
    // With a single step there is nothing to overlap: the step's own search starts at once.
    if (steps.size() < 2) return;
    // Longer job texts are not prefetched. Hashing them would take as long as the cache miss.
    constexpr std::size_t hashed_max = 256;
    steps = steps.first(std::min(steps.size(), prefetched_max));
    std::array<const JobState*, prefetched_max> leased;
    std::size_t count = 0;
    const auto look = [&](const auto& step) {
        if constexpr (std::same_as<decltype(step), const PushJob&>) {
            // Most steps of a submission use the same queue as the step before, so the last queue
            // found is tried first.
            const auto* queue = queues_.found_last();
            if (queue == nullptr || queue->name != step.queue) return;
            if (step.job.size() > hashed_max) return;
            fetch(*queue, payload_hash(step.job), step.options.group);
        } else if constexpr (requires {
                                 { step.lease } -> std::same_as<const Lease&>;
                             }) {
            const auto* job = leases_.guess(step.lease.fence);
            if (job == nullptr) return;
            prefetch(&job->payload);
            leased[count++] = job;
        }
    };
    for (const auto& step : steps) std::visit(look, step);
    for (const auto* job : std::span{leased}.first(count)) fetch(*job);
}

}  // namespace routemaster::detail
