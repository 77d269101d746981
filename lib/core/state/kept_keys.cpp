#include "core/state/kept_keys.hpp"

#include "routemaster/job_key.hpp"

namespace routemaster::detail {

const KeptKeyState* KeptKeys::find(const std::string& queue, const std::string& key,
                                   TimePoint now) {
    auto* kept = ends_.empty() ? nullptr : table_.find(queue + ':' + key);
    if (kept == nullptr || kept->until > now) return kept;
    forget(*kept);
    return nullptr;
}

void KeptKeys::keep(const std::string& queue, const std::string& key, TimePoint until,
                    TimePoint now) {
    for (int n = 0; n < 2 && !ends_.empty() && ends_.begin()->first <= now; ++n) forget(first());
    if (ends_.size() >= kept_keys_max) {
        auto& soonest = first();
        counters_.add(
            {"jobs.keys_forgotten", {{"queue", soonest.label.substr(0, soonest.label.find(':'))}}},
            1);
        forget(soonest);
    }
    const auto label = queue + ':' + key;
    auto& kept = table_.open(label);
    ends_.erase({kept.until, label});
    kept.label = label;
    kept.until = until;
    ends_.emplace(until, label);
    changes_.changed(kept);
}

void KeptKeys::settle_restored() {
    for (const auto& [label, key] : table_) ends_.emplace(key.until, label);
}

void KeptKeys::forget(KeptKeyState& key) {
    changes_.gone(key);
    ends_.erase({key.until, key.label});
    table_.erase(key);
}

}  // namespace routemaster::detail
