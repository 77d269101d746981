#include "core/jobs/state/reservations.hpp"

#include <limits>

namespace routemaster::detail {

namespace {

/// Used by a store without a journal, or with a journal of an older version, which did not record
/// the ids of begun jobs.
constexpr JobId all_begun = std::numeric_limits<JobId>::max();

constexpr std::uint64_t fences_at_once = 1U << 20U;
constexpr JobId begun_at_once = 1U << 16U;

}  // namespace

Reservations::Reservations(ChangeLog& changes, SequenceState& fences, SequenceState& begun)
    : changes_{changes}, fences_{fences}, begun_{begun} {
    begun_.last = all_begun;
}

void Reservations::cover_fence(std::uint64_t fence) {
    if (fence <= fences_.last) return;
    fences_.last = fence + fences_at_once;
    changes_.changed(fences_);
}

void Reservations::cover_begun(JobId id) {
    if (id <= begun_.last) return;
    begun_.last = id + begun_at_once;
    changes_.changed(begun_);
}

void Reservations::settle_restored(JobId last_id) {
    if (begun_.last == all_begun) begun_.last = last_id;
}

}  // namespace routemaster::detail
