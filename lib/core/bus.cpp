#include "routemaster/bus.hpp"

namespace routemaster {

Result<QueueStatus> Bus::deliveries(Duration ahead) const {
    return perform(store_, CountJobs{delivery_queue}, saturating_add(clock_.now(), ahead));
}

void Bus::deliveries(Duration ahead, std::function<void(Result<QueueStatus>)> done) const {
    submit(store_, CountJobs{delivery_queue}, saturating_add(clock_.now(), ahead), std::move(done));
}

// To add nothing is a change like any other to the store, and leaves no trace.

Result<void> Bus::probe() const {
    return without_value(perform(store_, AddToCounters{}, clock_.now()));
}

void Bus::probe(std::function<void(Result<void>)> done) const {
    submit(store_, AddToCounters{}, clock_.now(),
           [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

}  // namespace routemaster
