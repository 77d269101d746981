#include "request.hpp"

namespace routemaster::redis {

Arguments& Request::on(std::string_view key, std::string_view name) {
    std::string whole{context_.prefix};
    whole.append(key).append(name);
    return arguments()
        .add(1)
        .add(whole)
        .add(context_.prefix)
        .add(wire(context_.now))
        .add(fleet_kind(context_.prefix, context_.mixed_fleet));
}

Arguments& Request::on(const Lease& lease) {
    return on("jobs:index:", lease.queue)
        .add(lease.queue)
        .add(lease.job)
        .add(lease.worker.text())
        .add(lease.fence);
}

}  // namespace routemaster::redis
