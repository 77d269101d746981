#include "core/work/dispatcher/impl.hpp"

#include <cstddef>
#include <string>

#include "routemaster/public_part.hpp"

namespace routemaster {

void Dispatcher::Impl::settle(Id id) {
    settles_.ids.push_back(id);
    settles_.steps.emplace_back(*flights_.at(id).settlement);
    // A successor in its group may be acquired as soon as the step is performed.
    next_acquire_ = now_;
}

void Dispatcher::Impl::on(Settled& settled) {
    for (std::size_t i = 0; i < settled.ids.size(); ++i) {
        const auto flight = flights_.find(settled.ids[i]);
        if (flight == flights_.end()) continue;
        auto settlement = reply_of<SettleDelivery>(settled.outcomes[i]);
        if (!settlement) {
            refused(flight->first, settlement.error());
            continue;
        }
        // After a reply in doubt, the lease may be lost because the settlement was done.
        if (*settlement == Settlement::lease_lost && flight->second.refusals == 0) {
            warn("lost the lease of a delivery to '" + public_part(flight->second.subscriber) +
                 "': it will arrive again");
        }
        if (*settlement == Settlement::dead) log_death(flight->second);
        end(flight->first);
    }
}

void Dispatcher::Impl::log_death(const Flight& flight) const {
    warn("batch " + std::string{flight.batch.text()} + " for '" + public_part(flight.subscriber) +
         "' is DEAD after attempt " + std::to_string(flight.attempt) + ", with " +
         std::to_string(flight.events) + " events: " + flight.settlement->error);
}

}  // namespace routemaster
