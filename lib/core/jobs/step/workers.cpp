#include "routemaster/store/step/workers.hpp"

#include <string>

#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/recurring.hpp"

namespace routemaster {

Result<void> ListWorkers::check() const {
    if (page.limit >= 1 && page.limit <= workers_listed_max) return {};
    return Error{Errc::invalid, "limit: must be from 1 to " + std::to_string(workers_listed_max)};
}

Result<void> FindQueueWorkers::check() const {
    return queue == recurring_watch ? Result<void>{} : check_queue(queue);
}

}  // namespace routemaster
