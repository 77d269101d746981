/// @file
/// `LoneJob`: a job outside of any table.

#pragma once

#include <cstdint>
#include <string_view>

#include "core/jobs/state/queue_state.hpp"

namespace routemaster::test {

/// The destructor frees the payload, as a table does.
struct LoneJob : detail::JobState {
    LoneJob(detail::QueueState& in, std::string_view what, std::uint32_t hash, TimePoint at,
            std::uint64_t number)
        : JobState{in.payloads, in, what, hash, at, number} {}
    LoneJob(const LoneJob&) = delete;
    LoneJob& operator=(const LoneJob&) = delete;
    ~LoneJob() { payload.free(queue.payloads); }
};

}  // namespace routemaster::test
