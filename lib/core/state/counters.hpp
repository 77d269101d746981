/// @file
/// The counters of the state machine.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/state/entity.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/step.hpp"

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
    explicit CounterTable(ChangeLog& changes) : changes_{changes} {}

    /// The counter of that key, which begins at 0.
    CounterState& at(CounterKey key) {
        const auto place = counters_.try_emplace(std::move(key)).first;
        place->second.key = &place->first;
        return place->second;
    }

    void add(CounterState& counter, std::int64_t increment) {
        counter.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(counter.value) +
                                                  static_cast<std::uint64_t>(increment));
        changes_.counted(counter);
    }

    void add(CounterKey key, std::int64_t increment) { add(at(std::move(key)), increment); }

    [[nodiscard]] std::vector<Counter> list(const Page& page) const {
        std::map<std::string, const CounterState*> wanted;
        for (const auto& [key, counter] : counters_) {
            auto encoded = encode_counter_key(key);
            if (encoded > page.after) wanted.emplace(std::move(encoded), &counter);
        }
        std::vector<Counter> listed;
        for (const auto& [encoded, counter] : wanted) {
            if (listed.size() == page.limit) break;
            listed.push_back({*counter->key, counter->value});
        }
        return listed;
    }

private:
    ChangeLog& changes_;
    std::map<CounterKey, CounterState> counters_;
};

}  // namespace routemaster::detail
