#include "core/bus/work/dispatcher/impl.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/jobs/work/own_profile.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster {

Dispatcher::Dispatcher(Store& store, DispatcherOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

Dispatcher::~Dispatcher() { detail::leave_to_parent(impl_); }

TimePoint Dispatcher::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void Dispatcher::wake_with(std::function<void()> wake) { detail::own(impl_).wake_with(wake); }

void Dispatcher::close(TimePoint deadline) { detail::own(impl_).close(deadline); }

bool Dispatcher::closed() const { return detail::own(impl_).closed(); }

std::size_t Dispatcher::in_flight() const noexcept { return impl_->in_flight(); }

std::optional<std::string> Dispatcher::trouble() const { return detail::own(impl_).trouble(); }

Dispatcher::Impl::Impl(Store& store, DispatcherOptions options)
    : options_{std::move(options)},
      random_{options_.seed},
      loop_{store, loop_options(options_, {random_.next(), random_.next()}), *this} {}

detail::LeaseLoopOptions Dispatcher::Impl::loop_options(const DispatcherOptions& options,
                                                        const Uid& worker) {
    const auto local =
        std::any_of(options.transports.begin(), options.transports.end(),
                    [](const Transport* transport) { return transport->serves(local_scheme); });
    return {.queue = delivery_queue,
            .further_watches =
                local ? std::vector<std::string>{callback_watch} : std::vector<std::string>{},
            .worker = worker,
            .heartbeat_interval = options.heartbeat_interval,
            .worker_silence = options.worker_silence,
            .poll_interval = options.poll_interval,
            .wake_grace = options.wake_grace,
            .log = options.log};
}

TimePoint Dispatcher::Impl::poll(TimePoint now) {
    now_ = now;
    if (!std::exchange(attached_, true)) {
        for (auto* transport : options_.transports) transport->attach();
    }
    const bool over = loop_.over(now);
    const auto taken_back = over ? take_back() : std::vector<Id>{};
    loop_.receive(now);
    auto events = events_->take();
    for (auto& delivered : events.events) on(delivered);
    if (over) nack(taken_back);
    const auto next = loop_.send(options_.in_flight_max -
                                 std::min<std::size_t>(options_.in_flight_max, flights_.size()));
    if (loop_.retiring()) {
        flights_.clear();
        count_flights();
    }
    return events_->empty() ? next : now;
}

std::optional<std::vector<std::string>> Dispatcher::Impl::destinations() {
    std::vector<std::string> all;
    for (const auto* transport : options_.transports) {
        auto some = transport->destinations();
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.empty()) return all;
    const auto first = static_cast<std::ptrdiff_t>(acquisitions_++ % all.size());
    std::rotate(all.begin(), all.begin() + first, all.end());
    return all;
}

void Dispatcher::Impl::describe(Heartbeat& heartbeat) {
    std::vector<std::string> handlers;
    for (const auto* transport : options_.transports) {
        for (const auto& name : transport->destinations()) {
            handlers.push_back(
                delivery_handler(name.empty() ? name : std::string{local_scheme}.append(name)));
        }
    }
    std::sort(handlers.begin(), handlers.end());
    handlers.erase(std::unique(handlers.begin(), handlers.end()), handlers.end());
    if (profile_ == nullptr || profile_->handlers != handlers) {
        const auto since = profile_ == nullptr ? now_ : profile_->since;
        auto profile = detail::own_profile(delivery_queue, since, options_.worker_silence);
        profile.capacity = static_cast<std::uint32_t>(options_.in_flight_max);
        profile.list_handlers(std::move(handlers));
        profile_ = std::make_shared<const WorkerProfile>(std::move(profile));
    }
    heartbeat.profile = profile_;
    heartbeat.busy = static_cast<std::uint32_t>(flights_.size());
    for (const auto& [id, flight] : flights_) {
        if (flight.transport != nullptr)
            heartbeat.busy_since = std::min(heartbeat.busy_since, flight.begun_at);
    }
}

std::optional<std::string> Dispatcher::Impl::trouble() const {
    for (const auto* transport : options_.transports) {
        if (auto why = transport->trouble()) return why;
    }
    return loop_.trouble();
}

}  // namespace routemaster
