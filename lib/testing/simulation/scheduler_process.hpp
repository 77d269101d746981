/// @file
/// `SchedulerProcess`: a process that runs the ticks of recurring jobs.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "link.hpp"
#include "process.hpp"
#include "routemaster/recurring_scheduler.hpp"

namespace routemaster::simulation {

/// Simulated process with a real `RecurringScheduler`. Not thread safe.
class SchedulerProcess final : public Process {
public:
    SchedulerProcess(SimulationContext& context, Store& store, std::string name)
        : Process{context, std::move(name), "", Uid{}},
          link_{context, store},
          scheduler_{link_,
                     {.seed = context.random.next(),
                      .log = [&context, who = this->name()](LogLevel level, std::string_view text) {
                          context.note(who + ": " + std::string{to_string(level)} + ": " +
                                       std::string{text});
                      }}} {
        run(scheduler_);
    }

private:
    Link link_;
    RecurringScheduler scheduler_;
};

}  // namespace routemaster::simulation
