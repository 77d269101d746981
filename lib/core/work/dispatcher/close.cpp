#include "core/work/dispatcher/impl.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace routemaster {

void Dispatcher::Impl::stay_alive() {
    if (retiring_ || (now_ < next_heartbeat_ && now_ >= last_heartbeat_)) return;
    last_heartbeat_ = now_;
    next_heartbeat_ = now_ + options_.heartbeat_interval;
    store_step(Heartbeat{worker_});
    store_step(ScrubWorkers{options_.worker_silence});
}

void Dispatcher::Impl::on(MoreToScrub&) {
    if (!retiring_) store_step(ScrubWorkers{options_.worker_silence});
}

std::vector<Dispatcher::Impl::Id> Dispatcher::Impl::take_back() {
    std::vector<Id> ids;
    for (const auto& [id, flight] : flights_) {
        if (flight.settlement) continue;
        if (flight.transport == nullptr || flight.transport->withdraw(flight.batch)) {
            ids.push_back(id);
        }
    }
    return ids;
}

void Dispatcher::Impl::nack(const std::vector<Id>& ids) {
    std::vector<Lease> leases;
    for (const auto id : ids) {
        const auto flight = flights_.find(id);
        if (flight == flights_.end() || flight->second.settlement) continue;
        leases.push_back(std::move(flight->second.lease));
        end(id);
    }
    if (flights_.empty()) return;
    for (auto& lease : leases) store_step(NackJob{std::move(lease), now_});
}

void Dispatcher::Impl::retire_when_over() {
    if (retired_ || retiring_ || awaiting()) return;
    if (!flights_.empty()) {
        warn("gave up settling what was delivered, " + std::to_string(flights_.size()) +
             " in all: it will arrive again");
    }
    retiring_ = true;
    flights_.clear();
    retries_.clear();
    count_flights();
    retire();
}

bool Dispatcher::Impl::awaiting() const {
    if (flights_.empty()) return false;
    if (!over() || now_ < settle_by_) return true;
    return std::any_of(flights_.begin(), flights_.end(),
                       [](const auto& any) { return !any.second.settlement; });
}

void Dispatcher::Impl::retire() {
    submit(store_, RetireWorker{worker_}, now_,
           [event_queue = events_](const Result<Count>& jobs) { event_queue->put(Retired{jobs}); });
}

void Dispatcher::Impl::on(Retired& retired) {
    if (retired.jobs && retired.jobs->value == released_max) return retire();
    // When the store cannot do it, others will find the worker silent.
    if (!retired.jobs) warn("could not give back what was under way");
    retired_ = true;
}

}  // namespace routemaster
