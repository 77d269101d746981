/// @file
/// A bounded table of entities that expire.

#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Table of entities that expire at their member `until`. Each entity has a `label`: the name of a
/// queue, a colon, and a text. Expired entities do not pile up: `find` removes an expired entity,
/// and each `open` removes two.
///
/// Not thread safe.
template <class State>
class EndingTable {
public:
    /// Beyond `size_max` entities, the entity that expires first is evicted. The counter
    /// `forgotten` of the entity's queue counts evictions. `changes` and `counters` must outlive
    /// the table.
    EndingTable(ChangeLog& changes, CounterTable& counters, std::size_t size_max,
                std::string_view forgotten)
        : changes_{changes}, counters_{counters}, size_max_{size_max}, forgotten_{forgotten} {}

    /// The entity with this label; null if it is missing or expired.
    [[nodiscard]] const State* find(const std::string& label, TimePoint now) {
        auto* found = ends_.empty() ? nullptr : table_.find(label);
        if (found == nullptr || found->until > now) return found;
        forget(*found);
        return nullptr;
    }

    /// Creates the entity with this label, or changes its expiry time. The caller must then set the
    /// other fields and notify the change log.
    State& open(const std::string& label, TimePoint until, TimePoint now) {
        for (int n = 0; n < 2 && !ends_.empty() && ends_.begin()->first <= now; ++n) {
            forget(first());
        }
        if (ends_.size() >= size_max_) {
            auto& soonest = first();
            auto queue = soonest.label.substr(0, soonest.label.find(':'));
            counters_.add({std::string{forgotten_}, {{"queue", std::move(queue)}}}, 1);
            forget(soonest);
        }
        auto& opened = table_.open(label);
        ends_.erase({opened.until, label});
        opened.label = label;
        opened.until = until;
        ends_.emplace(until, label);
        return opened;
    }

    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

    [[nodiscard]] NamedTable<State>& table() noexcept { return table_; }
    /// Must be called after the table was restored.
    void settle_restored() {
        for (const auto& [label, state] : table_) ends_.emplace(state.until, label);
    }

private:
    void forget(State& state) {
        changes_.gone(state);
        ends_.erase({state.until, state.label});
        table_.erase(state);
    }
    [[nodiscard]] State& first() { return *table_.find(ends_.begin()->second); }

    ChangeLog& changes_;
    CounterTable& counters_;
    std::size_t size_max_;
    std::string_view forgotten_;
    NamedTable<State> table_;
    std::set<std::pair<TimePoint, std::string>> ends_;
};

}  // namespace routemaster::detail
