/// @file
/// Fragments for scripts that end jobs, with the functions for a job that belongs to a batch.

#pragma once

#include <string>

#include "lua_sources.hpp"
#include "redis/script.hpp"
#include "redis/steps/queue_names.hpp"

namespace routemaster::redis {

/// Script fragment in which `batch_ends()` returns `end_batches` of job_batch_end.lua. Must be
/// behind `job_groups_part`, and before the fragment `job_batch` with its call of `batch_ends()`.
inline std::string batch_ends_part() {
    using namespace lua;
    const auto names = queue_names_part();
    return lazily("batch_ends",
                  {expect, index, counter, wake, ready, record, ranks, keyed, names, job_batch_list,
                   job_batch_end},
                  "end_batches");
}

/// Script fragment in which `batches()` returns `leave_batch`, `settle_batches`, `may_join`,
/// `count_in` and `batch_in` of job_batch.lua, which few jobs need. It must be behind
/// `batch_ends_part`.
inline std::string batches_part() {
    return lazily("batches", {lua::job_batch},
                  "leave_batch, settle_batches, may_join, count_in, batch_in");
}

}  // namespace routemaster::redis
