/// @file
/// `TimerProcess`: a process that listens for timers.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "link.hpp"
#include "process.hpp"
#include "routemaster/timer_listener.hpp"
#include "subscribers.hpp"
#include "timer_accounts.hpp"

namespace routemaster::simulation {

/// Simulated process with a real listener. Its handlers take time, fail, and kill the process.
/// While the process stalls, its timers are not confirmed in time. Not thread safe.
class TimerProcess final : public Process {
public:
    /// `die` kills this process. All further arguments must outlive the process.
    TimerProcess(SimulationContext& context, Store& store, TimerAccounts& accounts,
                 Subscribers& subscribers, std::string name, std::function<void()> die);

    [[nodiscard]] bool busy() const override { return listener_.status().running >= slots_; }

private:
    void begin(const TimerResponder& responder);
    void end(const TimerResponder& responder, const Attempt& attempt);
    /// Calls `what` after `span`, unless the process is dead by then. While the process stalls, the
    /// call is delayed.
    void later(Duration span, std::function<void()> what);

    SimulationContext& context_;
    TimerAccounts& accounts_;
    Subscribers& subscribers_;
    std::function<void()> die_;
    std::size_t slots_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    Link link_;
    TimerListener listener_;
};

}  // namespace routemaster::simulation
