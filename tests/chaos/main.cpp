/// @file
/// Pools in several processes on one Redis server, with kills and freezes all the time: chaos
/// [SECONDS [SEED]]
///
/// Runs for a minute by default. Prints the faults and the findings. Exits with 1 when a guarantee
/// is violated.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "chaos/chaos.hpp"
#include "support/programs.hpp"

using namespace routemaster;

int main(int argc, char** argv) {
    // The checks of the test helpers need a doctest context.
    doctest::Context checks;
    checks.setAsDefaultForAssertsOutOfTestCases();
    checks.setAssertHandler([](const doctest::AssertData& data) {
        if (!data.m_failed) return;
        std::fprintf(stderr, "%s:%d: %s\n", data.m_file, data.m_line, data.m_expr);
        std::exit(1);
    });
    const std::chrono::seconds duration{argc > 1 ? std::stoi(argv[1]) : 60};
    const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    try {
        const auto report =
            test::run_chaos({.duration = duration,
                             .seed = seed,
                             .worker_program = test::program(ROUTEMASTER_CHAOS_WORKER)});
        for (const auto& violation : report.findings.violations) {
            std::printf("VIOLATED: %s\n", violation.c_str());
        }
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                    report.text().c_str());
        return report.findings.violations.empty() && report.pushed > 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "chaos: %s\n", error.what());
        return 1;
    }
}
