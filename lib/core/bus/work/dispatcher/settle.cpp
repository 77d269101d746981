#include "core/bus/work/dispatcher/impl.hpp"

#include <string>

#include "routemaster/public_part.hpp"

namespace routemaster {

void Dispatcher::Impl::settled(Id id, Settlement settlement) {
    const auto& flight = flights_.at(id);
    // If an earlier try was rejected, `lease_lost` may mean that this earlier try settled the job
    // after all. Without a rejection, the lease was lost, which is logged.
    if (settlement == Settlement::lease_lost && loop_.refusals(id) == 0) {
        warn("lost the lease of a delivery to '" + public_part(flight.subscriber) +
             "': the batch will be delivered again");
    }
    if (settlement == Settlement::dead) log_death(flight);
    end(id);
}

void Dispatcher::Impl::log_death(const Flight& flight) const {
    warn("batch " + std::string{flight.batch.text()} + " for '" + public_part(flight.subscriber) +
         "' is DEAD after attempt " + std::to_string(flight.attempt) + ", with " +
         std::to_string(flight.events) + " events: " + flight.error);
}

}  // namespace routemaster
