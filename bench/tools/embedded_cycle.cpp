// Pushes, acquires and acknowledges jobs inside this process, for benchmarks.
//
//   bench_embedded_cycle --file FILE --count N --in-flight N
//
// See cycles.hpp. On an embedded store, strict, or on the store in memory when no file is named.
// Prints one JSON line.

#include <CLI/CLI.hpp>

#include "cycles.hpp"
#include "embedded_run.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "run.hpp"

namespace {

void run(const bench::EmbeddedSettings& settings) {
    const auto measure = [&settings](routemaster::Store& store) {
        bench::measure_cycles(store, settings.in_flight, settings.warm_up, settings.count);
    };
    if (settings.file.empty()) {
        routemaster::MemoryStore store;
        measure(store);
    } else {
        routemaster::EmbeddedStore store{settings.file, bench::embedded_options()};
        measure(store);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::EmbeddedSettings settings;
    CLI::App app{"Pushes, acquires and acknowledges jobs in this process", "embedded_cycle"};
    bench::declare(app, settings);
    return bench::run_main(app, argc, argv, [&settings] { run(settings); });
}
