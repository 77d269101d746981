#include "routemaster/job_queues.hpp"

#include <utility>

#include "routemaster/perform.hpp"

namespace routemaster {

Result<std::vector<ListedQueue>> JobQueues::list(Page page) const {
    return perform(store_, ListQueues{std::move(page)}, clock_.now());
}

void JobQueues::list(Page page, std::function<void(Result<std::vector<ListedQueue>>)> done) const {
    submit(store_, ListQueues{std::move(page)}, clock_.now(), std::move(done));
}

}  // namespace routemaster
