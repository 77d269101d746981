// Pushes jobs to a queue of an embedded store (`strict`), for benchmarks.
//
//   bench_embedded_push --file FILE --count N --in-flight N --together N
//
// See pushes.hpp. The jobs stay in the queue. Prints one JSON line.

#include <cstdint>

#include "embedded_run.hpp"
#include "options.hpp"
#include "pushes.hpp"
#include "routemaster/store/embedded.hpp"
#include "run.hpp"

namespace {

struct Settings {
    bench::EmbeddedSettings embedded;
    std::uint32_t together = 1;
};

void run(const Settings& settings) {
    const auto& [embedded, together] = settings;
    routemaster::EmbeddedStore store{embedded.file, bench::embedded_options()};
    bench::Pushes{store, together, 0, embedded.warm_up}.run(embedded.in_flight);
    const auto all = embedded.warm_up + embedded.count;
    bench::Pushes pushes{store, together, embedded.warm_up, all};
    bench::measure(embedded.count, [&] { pushes.run(embedded.in_flight); });
    bench::check_ready(store, all);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::Options options{"Pushes jobs to a queue of an embedded store", "embedded_push"};
    bench::declare(options, settings.embedded).required();
    options.add("--together", settings.together, "Pushes in one submission").positive();
    return options.run(argc, argv, [&settings] { run(settings); });
}
