/// @file
/// A process that listens for timers.

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

/// The real listener, and handlers that take their time, fail, and die. While it stalls, what it
/// has taken waits, for longer than it may take to confirm it. Not thread safe.
class TimerProcess final : public Process {
public:
    /// `die` kills it. The others must outlive it.
    TimerProcess(SimulationContext& context, Store& store, TimerAccounts& accounts,
                 Subscribers& subscribers, std::string name, std::function<void()> die);

    [[nodiscard]] bool busy() const override { return listener_.status().running >= slots_; }

private:
    void begin(const TimerResponder& responder);
    void end(const TimerResponder& responder, const Attempt& attempt);
    /// Lets something happen unless the process is dead by then; while it stalls it waits.
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
