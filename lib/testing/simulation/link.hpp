/// @file
/// `Link`: the connection between a process and the store, which loses and delays requests and
/// replies.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The store as a process reaches it over a network. Replies in transit are lost when the process
/// ends. Not thread safe.
class Link final : public Store {
public:
    Link(SimulationContext& context, Store& store) : context_{context}, store_{store} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        const auto& fault_rates = context_.fault_rates;
        if (context_.happens(fault_rates.lost_requests)) {
            return lose(steps.size(), Errc::unavailable, "request lost", std::move(done));
        }
        if (context_.happens(fault_rates.lost_replies)) {
            store_.submit(steps, now, [](std::span<Outcome>) {});
            return lose(steps.size(), Errc::timed_out, "reply lost", std::move(done));
        }
        store_.submit(steps, now,
                      [this, alive = std::weak_ptr{alive_},
                       done = std::move(done)](std::span<Outcome> outcomes) {
                          if (!alive.expired()) reply(outcomes, done);
                      });
    }

    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return store_.watch(queue, std::move(wake));
    }

private:
    static constexpr Duration wait_max{1'000};

    void lose(std::size_t steps, Errc code, const char* what, Completion done) {
        context_.note(std::string{"link: "} + what);
        context_.disturb(wait_max);
        later({steps, Outcome{Error{code, std::string{"simulation: "} + what}}}, std::move(done));
    }

    void reply(std::span<Outcome> outcomes, const Completion& done) {
        if (!context_.happens(context_.fault_rates.late_replies)) return done(outcomes);
        context_.disturb(wait_max);
        later({outcomes.begin(), outcomes.end()}, done);
    }

    void later(std::vector<Outcome> outcomes, Completion done) {
        context_.after(context_.up_to(wait_max),
                       [alive = std::weak_ptr{alive_}, outcomes = std::move(outcomes),
                        done = std::move(done)]() mutable {
                           if (!alive.expired()) done(outcomes);
                       });
    }

    SimulationContext& context_;
    Store& store_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace routemaster::simulation
