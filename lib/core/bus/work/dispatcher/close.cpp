#include "core/bus/work/dispatcher/impl.hpp"

#include <utility>
#include <vector>

namespace routemaster {

std::vector<Dispatcher::Impl::Id> Dispatcher::Impl::take_back() {
    std::vector<Id> ids;
    for (const auto& [id, flight] : flights_) {
        if (loop_.settling(id)) continue;
        if (flight.transport == nullptr || flight.transport->withdraw(flight.batch)) {
            ids.push_back(id);
        }
    }
    return ids;
}

void Dispatcher::Impl::nack(const std::vector<Id>& ids) {
    for (const auto id : ids) {
        if (!flights_.contains(id) || loop_.settling(id)) continue;
        loop_.release(id);
        end(id);
    }
}

void Dispatcher::Impl::end(Id id) {
    const auto flight = flights_.find(id);
    if (flight->second.beginning) --beginning_;
    if (unhealthy(flight->second)) --unhealthy_;
    flights_.erase(flight);
    count_flights();
}

}  // namespace routemaster
