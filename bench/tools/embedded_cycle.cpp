// Pushes, acquires and acknowledges jobs within this process, for benchmarks.
//
//   bench_embedded_cycle --file FILE --count N --in-flight N --groups N
//
// See cycles.hpp. `--groups` is the number of ordering groups, of concurrency 1; by default jobs
// have no group. Uses an embedded store (`strict`), or a memory store without --file. Prints one
// JSON line.

#include <cstdint>

#include "cycles.hpp"
#include "embedded_run.hpp"
#include "options.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "run.hpp"

namespace {

void run(const bench::EmbeddedSettings& settings, std::uint64_t groups) {
    const auto measure = [&settings, groups](routemaster::Store& store) {
        bench::measure_cycles(store, settings.in_flight, settings.warm_up, settings.count, groups);
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
    bench::Options options{"Pushes, acquires and acknowledges jobs in this process",
                           "embedded_cycle"};
    bench::declare(options, settings);
    std::uint64_t groups = 0;
    options.add("--groups", groups, "Ordering groups of the jobs");
    return options.run(argc, argv, [&] { run(settings, groups); });
}
