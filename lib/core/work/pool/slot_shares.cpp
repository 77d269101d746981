#include "core/work/pool/slot_shares.hpp"

namespace routemaster::detail {

SlotShares::SlotShares(const std::vector<PoolQueue>& queues, QueueOrder order)
    : order_{order}, credits_(queues.size()) {
    for (const auto& queue : queues) weights_.push_back(queue.weight);
}

std::vector<std::size_t> SlotShares::share(const std::vector<Wish>& wishes, std::size_t free) {
    std::vector<std::size_t> shares(wishes.size(), free);
    if (order_ == QueueOrder::strict) {
        bool taken = false;
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            if (taken && wishes[i] == Wish::wants) shares[i] = 0;
            taken = taken || wishes[i] != Wish::nothing;
        }
        return shares;
    }
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        if (wishes[i] == Wish::wants) total += weights_[i];
    }
    if (total == 0) return shares;
    auto left = free;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        if (wishes[i] != Wish::wants) continue;
        shares[i] = static_cast<std::size_t>(free * std::uint64_t{weights_[i]} / total);
        left -= shares[i];
    }
    for (; left > 0; --left) ++shares[turn(wishes, total)];
    return shares;
}

std::size_t SlotShares::turn(const std::vector<Wish>& wishes, std::uint64_t total) {
    std::size_t next = wishes.size();
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        if (wishes[i] != Wish::wants) continue;
        credits_[i] += weights_[i];
        if (next == wishes.size() || credits_[i] > credits_[next]) next = i;
    }
    credits_[next] -= static_cast<std::int64_t>(total);
    return next;
}

}  // namespace routemaster::detail
