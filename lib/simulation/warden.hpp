/// @file
/// A process that drops the oldest batches when they take too much room.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "link.hpp"
#include "process.hpp"
#include "routemaster/autodrop.hpp"

namespace routemaster::simulation {

/// The real `Autodrop`, with little room. Not thread safe.
class Warden final : public Process {
public:
    /// Both must outlive it.
    Warden(Stage& stage, Store& store, std::uint64_t bytes_max, std::function<void()> logged_drop)
        : Process{stage, "warden", "", Uid{}},
          link_{stage, store},
          autodrop_{link_,
                    {.room = {.bytes_max = bytes_max, .bytes_free_min = bytes_max / 4},
                     .interval = Duration{1'000},
                     .log = [&stage, logged_drop = std::move(logged_drop)](LogLevel,
                                                                           std::string_view text) {
                         stage.note("warden: " + std::string{text});
                         if (text.find("dropped") != std::string_view::npos) logged_drop();
                     }}} {
        run(autodrop_);
    }

private:
    Link link_;
    Autodrop autodrop_;
};

}  // namespace routemaster::simulation
