/// @file
/// Names of jobs without a handler in this pool.

#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "core/schedule/unhandled_wait.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// How long a pool leaves jobs of an unhandled name to other processes: 1 s, doubled each time a
/// job comes after that, up to a minute. Thread safety: none.
class UnhandledNames {
public:
    struct Left {
        Duration wait;  ///< When to acquire the job again.
        bool news;      ///< The name was new.
    };

    [[nodiscard]] Left came(const std::string& name, TimePoint now) {
        if (!names_.contains(name) && names_.size() >= names_max) {
            return {unhandled_wait_max, false};
        }
        const auto [place, news] = names_.try_emplace(name, Wait{unhandled_wait_min, now});
        auto& wait = place->second;
        if (!news && now >= wait.over) wait.length = std::min(unhandled_wait_max, wait.length * 2);
        if (news || now >= wait.over) wait.over = now + wait.length;
        return {wait.length, news};
    }

private:
    struct Wait {
        Duration length;
        TimePoint over;
    };

    static constexpr std::size_t names_max = 10'000;

    std::map<std::string, Wait> names_;
};

}  // namespace routemaster::detail
