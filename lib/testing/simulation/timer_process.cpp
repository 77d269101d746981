#include "timer_process.hpp"

#include <string_view>
#include <utility>

namespace routemaster::simulation {
namespace {

TimerListenerOptions options_of(SimulationContext& context, const std::string& name,
                                std::size_t slots, Log log) {
    TimerListenerOptions options;
    options.name = name;
    options.threads = 0;
    options.concurrency = slots;
    options.confirm_within = Duration{1'000} + context.up_to(Duration{2'000});
    options.clock = &context.clock;
    options.log = std::move(log);
    return options;
}

}  // namespace

TimerProcess::TimerProcess(SimulationContext& context, Store& store, TimerAccounts& accounts,
                           Subscribers& subscribers, std::string name, std::function<void()> die)
    : Process{context, std::move(name), timer_space, Uid{}},
      context_{context},
      accounts_{accounts},
      subscribers_{subscribers},
      die_{std::move(die)},
      slots_{static_cast<std::size_t>(1 + context.random.below(8))},
      link_{context, store},
      listener_{link_, timer_space,
                AsyncTimerHandler{[this](const TimerResponder& responder) { begin(responder); }},
                options_of(context, this->name(), slots_, log())} {
    run(listener_);
}

void TimerProcess::later(Duration span, std::function<void()> what) {
    context_.after(span, [this, alive = std::weak_ptr{alive_}, what = std::move(what)] {
        if (alive.expired()) return;
        if (stalled()) return later(Duration{1'000}, what);
        what();
    });
}

void TimerProcess::begin(const TimerResponder& responder) {
    // Called from an event, because the listener would catch a failure of the simulation as a
    // failure of its handler.
    const Timer timer = responder.timer();
    context_.after(Duration{0}, [&accounts = accounts_, timer] { accounts.began(timer); });
    const auto attempt = subscribers_.attempt();
    later(attempt.takes, [this, responder, attempt] { end(responder, attempt); });
}

void TimerProcess::end(const TimerResponder& responder, const Attempt& attempt) {
    context_.note(name() + " handled " + responder.timer().id +
                  (attempt.fatal                             ? ", and dies"
                   : attempt.refused || attempt.receipt_lost ? ", which failed"
                                                             : ""));
    if (attempt.fatal) return die_();
    if (attempt.refused || attempt.receipt_lost) {
        responder.fail("the handler refused the timer");
    } else {
        responder.confirm();
    }
}

}  // namespace routemaster::simulation
