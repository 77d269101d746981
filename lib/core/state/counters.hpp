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
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// A counter. Its address is stable for the life of the table, so frequent callers store the
/// address.
struct CounterState : Entity {
    CounterState() noexcept : Entity{Kind::counter} {}

    CounterKey key;
    std::int64_t value = 0;
};

class CounterTable {
public:
    explicit CounterTable(ChangeLog& changes) : changes_{changes} {}

    /// The counter with this key. A new counter is created with the value 0.
    CounterState& at(CounterKey key) {
        const auto [place, fresh] = counters_.try_emplace(encode_counter_key(key));
        if (fresh) place->second.key = std::move(key);
        return place->second;
    }

    void add(CounterState& counter, std::int64_t increment) {
        counter.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(counter.value) +
                                                  static_cast<std::uint64_t>(increment));
        changes_.counted(counter);
    }

    void add(CounterKey key, std::int64_t increment) { add(at(std::move(key)), increment); }

    [[nodiscard]] std::vector<Counter> list(const Page& page) const {
        std::vector<Counter> listed;
        for (auto place = counters_.upper_bound(page.after);
             place != counters_.end() && listed.size() < page.limit; ++place) {
            listed.push_back({place->second.key, place->second.value});
        }
        return listed;
    }

private:
    ChangeLog& changes_;
    std::map<std::string, CounterState> counters_;  ///< By encoded key, the order of listings.
};

}  // namespace routemaster::detail
