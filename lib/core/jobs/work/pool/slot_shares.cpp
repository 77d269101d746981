#include "core/jobs/work/pool/slot_shares.hpp"

#include <algorithm>

namespace routemaster::detail {

SlotShares::SlotShares(const std::vector<PoolQueue>& queues, QueueOrder order)
    : order_{order}, credits_(queues.size()) {
    for (const auto& queue : queues) weights_.push_back(queue.weight);
}

std::vector<std::size_t> SlotShares::share(const std::vector<Wish>& wishes, std::size_t free) {
    std::vector<std::size_t> shares(wishes.size(), free);
    if (wishes.size() == 1) return shares;
    if (order_ == QueueOrder::strict) {
        bool taken = false;
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            if (taken && wishes[i] == Wish::wants) shares[i] = 0;
            taken = taken || wishes[i] != Wish::nothing;
        }
        return shares;
    }
    std::int64_t total = 0;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        if (wishes[i] == Wish::nothing) credits_[i] = 0;
        if (wishes[i] == Wish::wants) shares[i] = 0;
        total += wishes[i] == Wish::nothing ? 0 : weights_[i];
    }
    if (std::find(wishes.begin(), wishes.end(), Wish::wants) == wishes.end()) return shares;
    auto turns = credits_;
    const auto charge = [&](std::vector<std::int64_t>& credits, std::size_t queue) {
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            if (wishes[i] != Wish::nothing) credits[i] += weights_[i];
        }
        credits[queue] -= total;
    };
    for (; free > 0; --free) {
        const auto queue = next(wishes, turns);
        charge(turns, queue);
        // The slot belongs to a queue with an acquisition in progress, and stays free until its
        // reply.
        if (wishes[queue] == Wish::waits) continue;
        charge(credits_, queue);
        ++shares[queue];
    }
    return shares;
}

std::size_t SlotShares::next(const std::vector<Wish>& wishes,
                             const std::vector<std::int64_t>& credits) const {
    auto next = wishes.size();
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        if (wishes[i] == Wish::nothing) continue;
        const bool first = next == wishes.size();
        if (first || credits[i] + weights_[i] > credits[next] + weights_[next]) next = i;
    }
    return next;
}

}  // namespace routemaster::detail
