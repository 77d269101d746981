/// @file
/// `EvictionProcess`: a process that drops the oldest batches when batches take too much memory.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "link.hpp"
#include "process.hpp"
#include "routemaster/autodrop.hpp"

namespace routemaster::simulation {

/// Simulated process with a real `Autodrop` and a small limit. Not thread safe.
class EvictionProcess final : public Process {
public:
    EvictionProcess(SimulationContext& context, Store& store, std::uint64_t bytes_max,
                    std::function<void()> logged_drop)
        : Process{context, "eviction_process", "", Uid{}},
          link_{context, store},
          autodrop_{link_,
                    {.capacity = {.bytes_max = bytes_max, .bytes_free_min = bytes_max / 4},
                     .interval = Duration{1'000},
                     .log = [&context, logged_drop = std::move(logged_drop)](
                                LogLevel, std::string_view text) {
                         context.note("eviction process: " + std::string{text});
                         if (text.find("dropped") != std::string_view::npos) logged_drop();
                     }}} {
        run(autodrop_);
    }

private:
    Link link_;
    Autodrop autodrop_;
};

}  // namespace routemaster::simulation
