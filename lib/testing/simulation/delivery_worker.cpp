#include "delivery_worker.hpp"

#include <cstdint>

namespace routemaster::simulation {
namespace {

constexpr Duration timeout{4'000};

Uid worker_of(std::uint64_t seed) {
    Random random{seed};
    const auto high = random.next();
    return {high, random.next()};
}

/// A small limit: sometimes subscribers must share it.
std::uint32_t in_flight_max(std::uint64_t seed) { return static_cast<std::uint32_t>(6 + seed % 8); }

}  // namespace

void SimulatedTransport::deliver(Delivery delivery, DeliveryDone done) {
    const auto attempt = subscribers_.attempt();
    const auto report = [this, done](Duration span, std::string why, bool permanent = false) {
        context_.after(span,
                       [done, alive = std::weak_ptr{alive_}, why = std::move(why), permanent] {
                           if (alive.expired()) return;
                           done({.outcome = Error{Errc::unavailable, why}, .permanent = permanent});
                       });
    };
    if (attempt.rejected) return report(attempt.takes, "rejected", true);
    if (attempt.refused) return report(attempt.takes, "refused");
    const bool late = attempt.takes > timeout;
    if (late) report(timeout, "timed out");
    context_.after(attempt.takes, [this, &context = context_, &subscribers = subscribers_,
                                   alive = std::weak_ptr{alive_}, delivery = std::move(delivery),
                                   attempt, done = late ? DeliveryDone{} : std::move(done)] {
        if (!alive.expired()) return arrive(delivery, attempt, done);
        // The worker was killed before or while it sent the batch. A batch that was already sent
        // may still arrive.
        if (context.happens(0.5)) (void)subscribers.take(delivery);
    });
}

void SimulatedTransport::arrive(const Delivery& delivery, const Attempt& attempt,
                                const DeliveryDone& done) {
    context_.note("batch " + std::string{delivery.batch.text()} + " arrives at " +
                  delivery.subscriber + ", attempt " + std::to_string(delivery.attempt) +
                  (attempt.fatal          ? ", and the worker dies"
                   : attempt.receipt_lost ? ", and the receipt is lost"
                                          : ""));
    const auto taken = subscribers_.take(delivery);
    if (attempt.fatal) return die_();
    if (!done) return;
    if (taken && attempt.receipt_lost) {
        return done({Error{Errc::timed_out, "simulation: receipt lost"}, 0});
    }
    done({taken, 0});
}

DeliveryWorker::DeliveryWorker(SimulationContext& context, Store& store, Subscribers& subscribers,
                               std::string name, Duration backoff_max, std::function<void()> die)
    : DeliveryWorker{context,     store,          subscribers,          std::move(name),
                     backoff_max, std::move(die), context.random.next()} {}

DeliveryWorker::DeliveryWorker(SimulationContext& context, Store& store, Subscribers& subscribers,
                               std::string name, Duration backoff_max, std::function<void()> die,
                               std::uint64_t seed)
    : Process{context, std::move(name), delivery_queue, worker_of(seed)},
      link_{context, store},
      transport_{context, subscribers, std::move(die)},
      dispatcher_{
          link_,
          {.transports = {&transport_},
           .in_flight_max = in_flight_max(seed),
           .health = {.backoff_max = backoff_max},
           .seed = seed,
           .log = [&context, who = this->name()](LogLevel level, std::string_view text) {
               context.note(who + ": " + std::string{to_string(level)} + ": " + std::string{text});
           }}} {
    run(dispatcher_);
}

}  // namespace routemaster::simulation
