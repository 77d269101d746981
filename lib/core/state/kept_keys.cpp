#include "core/state/kept_keys.hpp"

namespace routemaster::detail {

const KeptKeyState* KeptKeys::find(const std::string& queue, const std::string& key,
                                   TimePoint now) {
    return keys_.find(queue + ':' + key, now);
}

void KeptKeys::keep(const std::string& queue, const std::string& key, TimePoint until,
                    TimePoint now) {
    changes_.changed(keys_.open(queue + ':' + key, until, now));
}

}  // namespace routemaster::detail
