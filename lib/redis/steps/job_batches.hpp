/// @file
/// Parts for scripts that end jobs: functions for a job that belongs to a batch.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/script.hpp"
#include "redis/steps/queue_names.hpp"

namespace routemaster::redis {

/// A part of a script: `batch_ends()` returns `end_batches` of job_batch_end.lua. Stands behind
/// `job_groups_part`, and before the part `job_batch`, where `batch_ends()` is called.
inline std::string batch_ends_part() {
    using namespace lua;
    const auto names = queue_names_part();
    return lazily("batch_ends",
                  {expect, index, counter, wake, ready, record, ranks, keyed, names, job_batch_list,
                   job_batch_end},
                  "end_batches");
}

/// A part of a script: `batches()` returns `leave_batch`, `settle_batches`, `may_join`, `count_in`
/// and `batch_in` of job_batch.lua, which few jobs need. Stands behind `batch_ends_part`.
inline std::string batches_part() {
    return lazily("batches", {lua::job_batch},
                  "leave_batch, settle_batches, may_join, count_in, batch_in");
}

}  // namespace routemaster::redis
