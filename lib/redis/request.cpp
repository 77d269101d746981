#include "request.hpp"

#include "routemaster/detail/assert.hpp"
#include "step_call.hpp"

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
        .begin_own()
        .add(lease.job)
        .add(lease.worker.text())
        .add(lease.fence);
}

Arguments& Request::on_job(const Lease& lease) { return on(lease).add(lease.id); }

void Request::add_step(const Step& step) {
    constexpr std::size_t numbers_and_keys = 2;
    constexpr std::size_t common = 3;
    const auto call = step_call(step, context_);
    ROUTEMASTER_ASSERT(call);
    const auto& own = call->call.arguments;
    arguments().add(own.count() - numbers_and_keys - common);
    arguments().add_behind(own, numbers_and_keys + common);
}

}  // namespace routemaster::redis
