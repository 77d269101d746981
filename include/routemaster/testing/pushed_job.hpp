/// @file
/// `PushedJob`: a push recorded by a `JobTester`.

#pragma once

#include <string>

#include "routemaster/job.hpp"
#include "routemaster/time.hpp"

namespace routemaster::testing {

/// A recorded push that was neither a duplicate nor an error.
struct PushedJob {
    std::string queue;
    Job job;
    JobOptions options;
    TimePoint run_at;  ///< Due time of the job; if due immediately, the time of the push.
    JobId id = 0;
};

}  // namespace routemaster::testing
