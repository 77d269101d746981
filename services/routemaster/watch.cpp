#include "watch.hpp"

#include <unistd.h>

#include <iostream>
#include <thread>

#include "components/seconds.hpp"
#include "routemaster/error.hpp"

namespace routemaster::service {
namespace {

/// Moves the cursor of a terminal to the top left, and clears the screen (ECMA-48).
constexpr const char* clear_screen = "\x1b[H\x1b[J";

}  // namespace

void declare_watch(CLI::App& app, WatchSettings& settings) {
    app.add_flag("--watch", settings.watch, "Repeat the output until it is interrupted");
    app.add_option("--interval", settings.interval, "Seconds between repetitions")
        ->check(seconds())
        ->capture_default_str();
}

int show_as(const WatchSettings& settings, const Run& show) {
    const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    bool shown = false;
    for (;;) {
        if (settings.watch && terminal) std::cout << clear_screen;
        int status = 0;
        try {
            status = show();
            shown = true;
        } catch (const Failure& failure) {
            // The bus may be restarting, so the output is tried again.
            if (!shown || !settings.watch || failure.error().code() != Errc::unavailable) throw;
            std::cerr << failure.what() << '\n';
        }
        std::cout.flush();
        if (status != 0 || !settings.watch || !std::cout) return status;
        std::this_thread::sleep_for(from_seconds(settings.interval));
    }
}

}  // namespace routemaster::service
