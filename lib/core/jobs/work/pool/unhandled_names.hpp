/// @file
/// `UnhandledNames`: names of jobs for which this pool has no handler.

#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "core/schedule/unhandled_wait.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Backoff by job name: for how long a pool releases jobs without a handler, to let other processes
/// acquire these jobs. 1 s, doubled each time a job with the name arrives again, up to a minute.
/// Not thread safe.
class UnhandledNames {
public:
    struct Left {
        Duration wait;  ///< The delay before the job may be acquired again.
        bool news;      ///< Whether this is the first job with this name.
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
