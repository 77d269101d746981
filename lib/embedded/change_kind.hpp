/// @file
/// `ChangeKind`: the types of records in a journal row, as numbered in docs/file-format.md.

#pragma once

#include <cstdint>

namespace routemaster::embedded {

/// The type of a record. A record describes one change, as a MessagePack array whose first element
/// is this number. A number is never reused with another meaning.
enum class ChangeKind : std::uint8_t {
    // The numbers 1 to 6, 18 to 28, and 33 and above belong to entities that have a name: see
    // `detail::Record`.
    batch = 7,          ///< [uid, token, created_at, order, attempts, current, [message…]]
    batch_changed = 8,  ///< [uid, attempts, current]
    event = 9,          ///< [message, [uid…]]: appended to each of these batches
    batch_gone = 10,    ///< [uid]
    job = 11,           ///< [queue, job, run_at, order, group or nil, details…, key…, {…}]
    job_gone = 12,      ///< [queue, job]: only in format 1
    counter = 13,       ///< [name, [[tag, value or nil]…], value]
    job_over = 14,      ///< [queue, hash, order]: a job was removed
    batch_dead = 15,    ///< [uid, attempts, died_at, error]
    batch_redelivered = 16,  ///< [uid, created_at, order]: the batch is no longer DEAD
    job_attempts = 17,  ///< [queue, hash, order, attempts], then the position in the group, if any
    job_waits = 29,     ///< [queue, hash, order, run_at, [id…]], then buried_at, error if BURIED
    timer = 30,         ///< [namespace, id, payload, at], then more fields if it has retries
    timer_moved = 31,   ///< [namespace, id, state, at, retries], then a reason if DEAD
    timer_gone = 32,    ///< [namespace, id]
};

/// Keys of the map at the end of a job's record. Jobs with none of these fields have no map. A
/// number is never reused for another meaning.
struct JobField {
    static constexpr std::uint8_t group = 1;
    static constexpr std::uint8_t concurrency = 2;  ///< The concurrency of the group, unless 1.
    static constexpr std::uint8_t after = 4;  ///< [id…]: the jobs that must end before this job.
    static constexpr std::uint8_t batch = 8;
    static constexpr std::uint8_t position = 5;    ///< The position in the group, if assigned.
    static constexpr std::uint8_t behind_due = 6;  ///< Position minus due time, if 0 to 127.
};

}  // namespace routemaster::embedded
