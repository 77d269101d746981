#include "doomed_jobs.hpp"

#include <variant>

namespace routemaster::simulation {

void DoomedJobs::pushed(const Pushed& pushed) {
    if (pushed == PushOutcome::duplicate)
        context_.fail("the push of a new job returned 'duplicate'");
    ++certain_;
    ++possible_;
}

void DoomedJobs::doubt(const Step& step) {
    const auto* push = std::get_if<PushJob>(&step);
    if (push != nullptr && push->queue == doomed_queue) ++possible_;
}

void DoomedJobs::acquired(const Lease& lease) const {
    if (lease.attempt <= doomed_attempts_max) return;
    context_.fail("the store leased a job again that has killed its worker " +
                  std::to_string(doomed_attempts_max) + " times");
}

}  // namespace routemaster::simulation
