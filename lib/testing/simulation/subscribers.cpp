#include "subscribers.hpp"

#include <exception>
#include <string>
#include <utility>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster::simulation {
namespace {

constexpr Duration usual_max{20};
constexpr Duration slow_max{8'000};

}  // namespace

Attempt Subscribers::attempt() {
    const auto& fault_rates = context_.fault_rates;
    Attempt attempt;
    attempt.refused = context_.happens(fault_rates.refusals);
    attempt.rejected = context_.happens(fault_rates.rejections);
    attempt.receipt_lost = context_.happens(fault_rates.lost_receipts);
    attempt.fatal = context_.happens(fault_rates.fatal_ones);
    attempt.takes = context_.up_to(context_.happens(fault_rates.slow_ones) ? slow_max : usual_max);
    return attempt;
}

Result<void> Subscribers::take(const Delivery& delivery) {
    const auto found = batch_handlers_.find(delivery.subscriber);
    Result<void> taken;
    if (found != batch_handlers_.end() && found->second) {
        Batch batch{.uid = delivery.batch,
                    .subscriber = delivery.subscriber,
                    .attempt = delivery.attempt,
                    .created_at = delivery.created_at,
                    .events = {}};
        for (const auto message : delivery.messages) {
            if (auto event = decode_message(message)) batch.events.push_back(*std::move(event));
        }
        taken = call([&] { found->second(batch); });
    }
    if (taken) oracle_.arrived(delivery.subscriber, delivery.batch, delivery.messages);
    return taken;
}

Result<void> Subscribers::run(const std::string& job) {
    Result<void> done;
    if (job_handler_) {
        const auto decoded = decode_job(job);
        if (!decoded) return decoded.error();
        if (decoded->name == work_name) done = call([&] { job_handler_(*decoded); });
    }
    if (done) oracle_.ran(job);
    return done;
}

Result<void> Subscribers::call(const std::function<void()>& handler) {
    try {
        handler();
        return {};
    } catch (const testing::SimulationFailure&) {
        throw;  // The simulation failed, not the handler.
    } catch (const std::exception& failure) {
        return Error{Errc::unavailable, std::string{"handler threw: "} + failure.what()};
    }
}

}  // namespace routemaster::simulation
