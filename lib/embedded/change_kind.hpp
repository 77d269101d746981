/// @file
/// The kinds of changes in a journal row, as numbered in docs/file-format.md.

#pragma once

#include <cstdint>

namespace routemaster::embedded {

/// Each change is a MessagePack array that begins with its kind. A number never gets another
/// meaning.
enum class ChangeKind : std::uint8_t {
    // 1 to 6, and from 18 on all but 29 to 32, are of entities that have a name: see
    // `detail::Record`.
    batch = 7,          ///< [uid, token, created_at, order, attempts, current, [message…]]
    batch_changed = 8,  ///< [uid, attempts, current]
    event = 9,          ///< [message, [uid…]]: put at the end of each batch
    batch_gone = 10,    ///< [uid]
    job = 11,           ///< [queue, job, run_at, order, group or nil, details…, key…, {…}]
    job_gone = 12,      ///< [queue, job]: written by format 1
    counter = 13,       ///< [name, [[tag, value or nil]…], value]
    job_over = 14,      ///< [queue, hash, order]: a job is gone
    batch_dead = 15,    ///< [uid, attempts, died_at, error]
    batch_redelivered = 16,  ///< [uid, created_at, order]: it is no longer DEAD
    job_attempts = 17,       ///< [queue, hash, order, attempts], and of a group its position in it
    job_waits = 29,    ///< [queue, hash, order, run_at, [id…], buried_at and error, if it is]
    timer = 30,        ///< [namespace, id, payload, at, and if it has retries: those of it, …]
    timer_moved = 31,  ///< [namespace, id, state, at, retries, and why it is DEAD]
    timer_gone = 32,   ///< [namespace, id]
};

/// The keys of the map that ends the record of a job, if it has any of these. A number never gets
/// another meaning.
struct JobField {
    static constexpr std::uint8_t group = 1;        ///< The name of its ordering group.
    static constexpr std::uint8_t concurrency = 2;  ///< Of that group, unless it is 1.
    static constexpr std::uint8_t after = 4;        ///< [id…]: the jobs that it waits for.
    static constexpr std::uint8_t batch = 8;        ///< The id of its batch.
    static constexpr std::uint8_t position = 5;     ///< In its group, once it is there; or
    static constexpr std::uint8_t behind_due = 6;   ///< that, from when it falls due.
};

}  // namespace routemaster::embedded
