#include "core/bus/work/dispatcher/impl.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/public_part.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster {

void Dispatcher::Impl::deliver(Id id, DeliveryStart start) {
    auto& flight = flights_.at(id);
    flight.subscriber = start.subscription.token;
    flight.batch = start.batch;
    flight.health_points = start.health_points;
    if (unhealthy(flight)) ++unhealthy_;
    flight.attempt = start.attempt;
    flight.events = start.messages.size();
    flight.begun_at = now_;
    auto report = [event_queue = events_.shared(), id](DeliveryReport how) {
        event_queue->put(Delivered{id, std::move(how)});
    };
    if (none_left(id, flight, start.subscription)) {
        const auto most = std::to_string(start.subscription.attempts_max);
        report(
            {.outcome = Error{Errc::timed_out,
                              "all " + most + " attempts have begun, but the last has no result"}});
        return;
    }
    auto* transport = serving(start.subscription.callback);
    if (transport == nullptr) {
        const std::string_view callback = start.subscription.callback;
        report({.outcome = Error{Errc::unavailable, "no transport for " + public_url(callback)},
                .unnamed = callback.starts_with(local_scheme)});
        return;
    }
    flight.transport = transport;
    transport->deliver({.batch = start.batch,
                        .subscriber = flight.subscriber,
                        .callback = std::move(start.subscription.callback),
                        .uuid = std::move(start.subscription.uuid),
                        .attempt = start.attempt,
                        .created_at = start.created_at,
                        .messages = std::move(start.messages),
                        .unhealthy = unhealthy(flight)},
                       std::move(report));
}

/// Whether the delivery has no attempts left. Attempts are counted at their beginning, because a
/// delivery that crashes its process reports no failure. Whenever the store rejected
/// `BeginDelivery`, it may have counted an attempt that was not made. The limit is therefore raised
/// by the number of rejections.
bool Dispatcher::Impl::none_left(Id id, const Flight& flight, const Subscription& wants) const {
    return wants.attempts_max > 0 &&
           flight.attempt > std::uint64_t{wants.attempts_max} + loop_.refusals(id);
}

Transport* Dispatcher::Impl::serving(std::string_view callback) const {
    for (auto* transport : options_.transports) {
        if (transport->serves(callback)) return transport;
    }
    return nullptr;
}

void Dispatcher::Impl::on(Delivered& delivered) {
    const auto found = flights_.find(delivered.id);
    if (found == flights_.end()) return;
    auto& flight = found->second;
    const auto& outcome = delivered.report.outcome;
    if (loop_.over(now_) && !outcome && outcome.error().code() == Errc::cancelled) return;
    SettleDelivery step{
        .lease = loop_.lease(delivered.id),
        .delivered = outcome.has_value(),
        .health_change = outcome ? options_.health.heal_rate : options_.health.damage_rate,
        .begun_at = flight.begun_at,
        .concurrency_max = concurrency_max(),
        // While the dispatcher runs, the settlement may be written together with later records.
        // Only a closing dispatcher waits for the settlement.
        .patient = !loop_.closing()};
    if (!outcome) {
        const auto points = changed_health(flight.health_points, step.health_change);
        const auto wait = retry_wait(points, flight.attempt, options_.health.backoff_max, jitter());
        step.retry_at = retry_time(now_, wait, now_ - flight.begun_at);
        step.permanent = delivered.report.permanent;
        step.error = outcome.error().message();
    }
    flight.error = step.error;
    log_outcome(flight, delivered.report);
    loop_.settle(delivered.id, std::move(step));
}

void Dispatcher::Impl::log_outcome(const Flight& flight, const DeliveryReport& report) {
    if (report.undecodable > 0) {
        log(LogLevel::error, std::to_string(report.undecodable) +
                                 " undecodable messages omitted from a batch for '" +
                                 public_part(flight.subscriber) + "'");
        loop_.fire_and_forget(
            AddToCounters{{{{"events.undecodable", {{"queue", flight.subscriber}}},
                            static_cast<std::int64_t>(report.undecodable)}}});
    }
    if (!options_.log) return;
    if (report.unnamed) return log_unnamed(flight.subscriber);
    unnamed_.erase(flight.subscriber);
    const auto what =
        std::to_string(flight.events) + " events to '" + public_part(flight.subscriber) + "'";
    if (report.outcome) {
        log(LogLevel::debug, "delivered " + what);
    } else {
        warn("failed to deliver " + what + ", attempt " + std::to_string(flight.attempt) + ": " +
             report.outcome.error().message());
    }
}

void Dispatcher::Impl::log_unnamed(const std::string& subscriber) {
    if (unnamed_.size() >= unnamed_max) unnamed_.clear();
    if (!unnamed_.insert(subscriber).second) return;
    warn("this process has no callback for '" + public_part(subscriber) +
         "', and the events accumulate in the store: subscribe again with the callback, or remove "
         "the subscriber");
}

}  // namespace routemaster
