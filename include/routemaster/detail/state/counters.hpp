/// @file
/// The counters of the state machine.

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "routemaster/counter.hpp"
#include "routemaster/detail/state/entity.hpp"

namespace routemaster::detail {

/// A counter. Its address is stable for as long as the table lives, so hot paths keep it.
struct CounterState : Entity {
    CounterState() noexcept : Entity{Kind::counter} {}

    const CounterKey* key = nullptr;  ///< Stands beside it in the table.
    std::int64_t value = 0;
};

/// All counters.
class CounterTable {
public:
    explicit CounterTable(Effects& effects) : effects_{effects} {}

    /// The counter of that key, which begins at 0.
    CounterState& at(CounterKey key) {
        const auto place = counters_.try_emplace(std::move(key)).first;
        place->second.key = &place->first;
        return place->second;
    }

    void add(CounterState& counter, std::int64_t increment) {
        counter.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(counter.value) +
                                                  static_cast<std::uint64_t>(increment));
        effects_.counted(counter);
    }

    void add(CounterKey key, std::int64_t increment) { add(at(std::move(key)), increment); }

    [[nodiscard]] std::vector<Counter> list() const {
        std::vector<Counter> all;
        all.reserve(counters_.size());
        for (const auto& [key, counter] : counters_) all.push_back({key, counter.value});
        return all;
    }

private:
    Effects& effects_;
    std::map<CounterKey, CounterState> counters_;
};

}  // namespace routemaster::detail
