#include <cstdint>

#include "routemaster/random.hpp"
#include "routemaster/testing/simulation.hpp"

namespace routemaster::testing {

FaultRates swarm(std::uint64_t seed) {
    Random random{scatter(seed ^ 0x5eedU)};
    const auto rate = [&](double most) {
        return random.below(2) == 0 ? 0.0 : most * random.unit();
    };
    return {.crashes = rate(0.005),
            .kills = rate(0.01),
            .stalls = rate(0.005),
            .retirements = rate(0.005),
            .churn = rate(0.01),
            .bad_input = rate(0.005),
            .operators = rate(0.01),
            .clock_sets = rate(0.003),
            .lost_requests = rate(0.05),
            .lost_replies = rate(0.05),
            .late_replies = rate(0.05),
            .disk_errors = rate(0.02),
            .full_disks = rate(0.005),
            .broken_reads = rate(0.005),
            .slow_syncs = rate(0.005),
            .crashed_syncs = rate(0.01),
            .refusals = rate(0.3),
            .rejections = rate(0.05),
            .lost_receipts = rate(0.1),
            .slow_ones = rate(0.05),
            .fatal_ones = rate(0.05),
            .drops = random.below(4) == 0};
}

}  // namespace routemaster::testing
