#include "routemaster/step/workers.hpp"

#include <string>

namespace routemaster {

Result<void> ListWorkers::check() const {
    if (page.limit >= 1 && page.limit <= workers_listed_max) return {};
    return Error{Errc::invalid, "limit: must be from 1 to " + std::to_string(workers_listed_max)};
}

}  // namespace routemaster
