#include "core/work/dispatcher/impl.hpp"

#include <iterator>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace routemaster {

template <class Back>
void Dispatcher::Impl::post(Outgoing& outgoing) {
    if (outgoing.steps.empty()) return;
    auto steps = std::exchange(outgoing.steps, {});
    store_.submit(steps, now_,
                  [event_queue = events_,
                   ids = std::exchange(outgoing.ids, {})](std::span<Outcome> outcomes) mutable {
                      event_queue->put(Back{std::move(ids),
                                            {std::make_move_iterator(outcomes.begin()),
                                             std::make_move_iterator(outcomes.end())}});
                  });
}

void Dispatcher::Impl::post() {
    post<Settled>(settles_);
    post<Begun>(begins_);
    if (!aside_.empty()) {
        store_.submit(aside_, now_, [event_queue = events_](std::span<Outcome> outcomes) {
            for (const auto& outcome : outcomes) {
                const auto* jobs = outcome ? std::get_if<Count>(&*outcome) : nullptr;
                if (jobs != nullptr && jobs->value == released_max) event_queue->put(MoreToScrub{});
            }
        });
        aside_.clear();
    }
    if (std::exchange(wanted_, false)) post_acquire();
}

void Dispatcher::Impl::end(Id id) {
    const auto flight = flights_.find(id);
    if (unhealthy(flight->second)) --unhealthy_;
    flights_.erase(flight);
    count_flights();
}

}  // namespace routemaster
