/// @file
/// What a `JobTester` notes of a push.

#pragma once

#include <string>

#include "routemaster/job.hpp"
#include "routemaster/time.hpp"

namespace routemaster::testing {

/// A push that was neither a duplicate nor an error.
struct PushedJob {
    std::string queue;
    Job job;
    JobOptions options;
    TimePoint run_at;  ///< When it was to run: that of the push, if at once.
    JobId id = 0;
};

}  // namespace routemaster::testing
