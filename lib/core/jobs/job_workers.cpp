#include "routemaster/job_workers.hpp"

#include <utility>

#include "routemaster/store/perform.hpp"

namespace routemaster {

Result<std::vector<ListedWorker>> JobWorkers::list(Page page) const {
    return perform(store_, ListWorkers{std::move(page)}, clock_.now());
}

void JobWorkers::list(Page page,
                      std::function<void(Result<std::vector<ListedWorker>>)> done) const {
    submit(store_, ListWorkers{std::move(page)}, clock_.now(), std::move(done));
}

}  // namespace routemaster
