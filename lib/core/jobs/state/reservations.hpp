/// @file
/// `Reservations`: upper bounds of fences and of the ids of begun jobs, in the journal.

#pragma once

#include <cstdint>

#include "core/state/entity.hpp"
#include "core/state/sequence.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {

/// Upper bounds, in the journal, of the fences and of the ids of begun jobs. A journal does not
/// record leases. The bound of fences prevents a restarted process from assigning a fence twice.
/// The bound of begun jobs tells which restored jobs may have begun. A bound is raised by many
/// numbers at once, because an acquisition waits until the record of the bound is on disk. Not
/// thread safe.
class Reservations {
public:
    /// All arguments must outlive the object. `fences` and `begun` are the journal records of the
    /// bounds.
    Reservations(ChangeLog& changes, SequenceState& fences, SequenceState& begun);

    /// The record with an upper bound of the assigned fences. The bound must be on disk before a
    /// fence up to it is used.
    [[nodiscard]] const SequenceState& fences() const noexcept { return fences_; }
    /// The record with an upper bound of the ids of begun jobs, including the jobs begun by earlier
    /// processes. The bound must be on disk before a job with such an id begins.
    [[nodiscard]] const SequenceState& begun() const noexcept { return begun_; }

    /// Raises the bound of fences if `fence`, the last assigned fence, exceeds it.
    void cover_fence(std::uint64_t fence);
    /// Raises the bound of begun jobs if the job with this id, which is about to begin, exceeds it.
    void cover_begun(JobId id);
    /// Records the bound of begun jobs in the journal. To be called when the first job id is
    /// assigned, so that every journal with job ids has this record.
    void record_begun() { changes_.changed(begun_); }

    /// To be called after the journal was read. If the journal has no record of begun jobs, every
    /// job up to `last_id` may have begun.
    void settle_restored(JobId last_id);

private:
    ChangeLog& changes_;
    SequenceState& fences_;
    SequenceState& begun_;
};

}  // namespace routemaster::detail
