// Publishes events to a bus on an embedded store (`strict`), for benchmarks.
//
//   bench_embedded_publish --file FILE --count N --in-flight N --subscribers N
//
// See publications.hpp. Batches take 100 events and become due after an hour. Prints one JSON line.

#include <chrono>
#include <cstdint>

#include "embedded_run.hpp"
#include "options.hpp"
#include "publications.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/store/embedded.hpp"
#include "run.hpp"

namespace {

struct Settings {
    bench::EmbeddedSettings embedded;
    std::uint32_t subscribers = 100;
};

void run(const Settings& settings) {
    using namespace std::chrono_literals;
    const auto& [embedded, subscribers] = settings;
    routemaster::EmbeddedStore store{embedded.file, bench::embedded_options()};
    routemaster::Bus bus{store, {.publisher = "bench-publisher"}};
    bench::subscribe(bus, subscribers, {.callback = {}, .timeout = 1h, .max_events = 100});
    bench::measure_publications(bus, subscribers, embedded.in_flight, embedded.warm_up,
                                embedded.count);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Publishes events to a bus on an embedded store", "embedded_publish"};
    bench::declare(options, settings.embedded).required();
    options.add("--subscribers", settings.subscribers);
    return options.run(argc, argv, [&settings] { run(settings); });
}
