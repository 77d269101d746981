#include "routemaster/job_status.hpp"

namespace routemaster {

std::uint32_t deaths_in(const std::vector<JobError>& errors, std::uint32_t attempts) noexcept {
    std::uint32_t deaths = 0;
    // Attempt numbers restart at 1 when a job is kicked. The loop goes back from the newest error,
    // and stops at the first number that does not decrease: that error is from before the kick.
    auto next = attempts + 1;
    for (auto error = errors.rbegin(); error != errors.rend(); ++error) {
        if (error->attempt == 0 || error->attempt >= next) break;
        next = error->attempt;
        if (error->text == unreported_error) ++deaths;
    }
    return deaths;
}

}  // namespace routemaster
