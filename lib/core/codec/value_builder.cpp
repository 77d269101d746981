#include "core/codec/value_builder.hpp"

#include <numeric>

namespace routemaster::detail {

void keep_last_of_equal_keys(Value::Map& map) {
    const auto is_unique = [&](std::size_t i) {
        return std::none_of(map.begin(), map.begin() + static_cast<std::ptrdiff_t>(i),
                            [&](const auto& pair) { return pair.first == map[i].first; });
    };
    constexpr std::size_t few = 8;
    if (map.size() <= few) {
        bool unique = true;
        for (std::size_t i = 1; i < map.size() && unique; ++i) unique = is_unique(i);
        if (unique) return;
    }
    std::vector<std::size_t> order(map.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return map[a].first < map[b].first; });
    std::vector<bool> surplus(map.size(), false);
    std::size_t first = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (map[order[i]].first != map[order[first]].first) {
            first = i;
            continue;
        }
        map[order[first]].second = std::move(map[order[i]].second);
        surplus[order[i]] = true;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < map.size(); ++i) {
        if (surplus[i]) continue;
        if (kept != i) map[kept] = std::move(map[i]);
        ++kept;
    }
    map.erase(map.begin() + static_cast<std::ptrdiff_t>(kept), map.end());
}

}  // namespace routemaster::detail
