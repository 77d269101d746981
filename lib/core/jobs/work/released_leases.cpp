#include "core/jobs/work/released_leases.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/jobs/work/refusal.hpp"

namespace routemaster::detail {

ReleasedLeases::Chunk ReleasedLeases::take(TimePoint now, bool ruby_queue) {
    Chunk chunk;
    if (sending_ || now < send_at_) return chunk;
    std::size_t bytes = 0;
    for (; !released_.empty() && chunk.steps.size() < released_max; released_.pop_front()) {
        const auto& [lease, run_at] = released_.front();
        if (bytes > 0 && bytes + lease.job.size() > job_slice_bytes_max) break;
        bytes += lease.job.size();
        if (ruby_queue) {
            chunk.steps.emplace_back(NackJob{lease, run_at});
        } else {
            chunk.steps.emplace_back(ReleaseJob{lease, run_at});
        }
        chunk.leases.push_back(std::move(released_.front()));
    }
    sending_ = !chunk.steps.empty();
    return chunk;
}

std::optional<Error> ReleasedLeases::replied(std::vector<Released> leases,
                                             std::vector<Outcome>& outcomes, TimePoint now) {
    sending_ = false;
    std::optional<Error> refusal;
    for (std::size_t i = 0; i < leases.size(); ++i) {
        const auto& outcome = outcomes[i];
        if (outcome || is_final_refusal(outcome.error())) continue;
        refusal = outcome.error();
        released_.push_back(std::move(leases[i]));
    }
    if (!refusal) {
        refusals_ = 0;
        return std::nullopt;
    }
    send_at_ = now + refusal_backoff(refusals_);
    return refusals_++ == 0 ? refusal : std::nullopt;
}

bool ReleasedLeases::must_send(TimePoint now) const {
    return sending_ || std::any_of(released_.begin(), released_.end(),
                                   [now](const Released& each) { return each.run_at > now; });
}

}  // namespace routemaster::detail
