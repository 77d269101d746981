/// @file
/// A fragment for scripts that release jobs, with the functions for jobs that were cancelled or
/// have no attempts left.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/script.hpp"
#include "redis/steps/queue_names.hpp"

namespace routemaster::redis {

/// Script fragment in which `cancellations()` returns `drop_cancelled` of cancelled.lua,
/// `settle_batches` of job_batch.lua, and `bury_unreported`, `add_error` and `bury` of burial.lua.
/// Needs the fragments `record` and `ranks`, and `batch_ends_part`.
inline std::string cancellations_part() {
    using namespace lua;
    const auto names = queue_names_part();
    return lazily("cancellations",
                  {index, counter, keyed, unrank, waiting, forget, throughput, job_batch, burial,
                   names, cancelled},
                  "drop_cancelled, settle_batches, bury_unreported, add_error, bury");
}

}  // namespace routemaster::redis
