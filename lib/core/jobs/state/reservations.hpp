/// @file
/// `Reservations`: upper bounds of fences and of the ids of begun jobs, in the journal.

#pragma once

#include <cstdint>

#include "core/state/entity.hpp"
#include "core/state/sequence.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {

/// Reserves many numbers with one record, because an acquisition waits until the record is on disk.
/// Not thread safe.
class Reservations {
public:
    /// All must outlive the object. The sequences are records of the journal.
    Reservations(ChangeLog& changes, SequenceState& fences, SequenceState& begun);

    /// Its number bounds the fences that may be assigned, once the record is on disk.
    [[nodiscard]] const SequenceState& fences() const noexcept { return fences_; }
    /// Its number bounds the ids of jobs that may begin, once the record is on disk. No earlier
    /// process began a job with a greater id.
    [[nodiscard]] const SequenceState& begun() const noexcept { return begun_; }

    /// Raises the bound after fences up to `fence` were assigned.
    void cover_fence(std::uint64_t fence);
    /// Raises the bound when a job begins.
    void cover_begun(JobId id);
    /// Records the bound of begun jobs, beside the record of the first id of all.
    void record_begun() { changes_.changed(begun_); }

    /// Without a record of begun jobs, every job of the journal may have begun.
    void settle_restored(JobId last_id);

private:
    ChangeLog& changes_;
    SequenceState& fences_;
    SequenceState& begun_;
};

}  // namespace routemaster::detail
