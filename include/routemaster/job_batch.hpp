/// @file
/// A batch of jobs: how far many jobs have come, and what is pushed at their end.
///
///     create ──► OPEN ──close──► CLOSED ──none waits or runs any more──► ENDED ──► (forgotten)
///                  ▲ jobs join ▲                                           │
///                                      a BURIED job is kicked ─────────────┘ and may yet succeed

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Longest name of a batch of jobs, in bytes.
inline constexpr std::size_t job_batch_name_max = 128;

/// Bytes of the encoded job of a callback, at most.
inline constexpr std::size_t batch_callback_bytes_max = 16'384;

/// Batches of a store that have not ended, at most; beyond it none is created.
inline constexpr std::uint32_t job_batches_open_max = 100'000;

/// Batches of a store that have ended and are kept, at most; beyond it the one that ended first is
/// forgotten, counted in `job_batches.forgotten`.
inline constexpr std::uint32_t job_batches_kept_max = 10'000;

/// How long a batch is kept after its end: then it is forgotten, and counted, when further batches
/// are created or end, two with each.
inline constexpr Duration job_batches_age_max{std::int64_t{30} * 86'400'000};

/// A job that is pushed once, when a batch ends.
///
/// It is always pushed, whatever equals it in its queue: it has a key of its own. To the metadata
/// `batch` is added, the id of the batch. It belongs to no batch itself.
struct JobBatchCallback {
    std::string queue;  ///< None of Ruby Routemaster's.
    std::string job;    ///< As `encode_job` encodes it; at most `batch_callback_bytes_max`.

    // As in `PushOptions`.

    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    JobMetadata metadata{};

    friend bool operator==(const JobBatchCallback&, const JobBatchCallback&) = default;
};

/// What a batch is created with.
struct JobBatchSettings {
    /// What people and programs know it by: 1 to `job_batch_name_max` bytes of UTF-8 without NUL.
    /// No two batches that are kept have the same.
    std::string name;
    /// Pushed when each job of the batch has succeeded.
    std::optional<JobBatchCallback> on_success{};
    /// Pushed when no job of the batch waits or runs any more: each is done, BURIED, or gone.
    std::optional<JobBatchCallback> on_end{};

    friend bool operator==(const JobBatchSettings&, const JobBatchSettings&) = default;
};

/// What has become of the jobs of a batch. Each is counted in one place, at each instant.
struct JobBatchProgress {
    std::uint64_t total = 0;  ///< That were ever pushed into it. A duplicate was not.
    std::uint64_t succeeded = 0;
    std::uint64_t buried = 0;     ///< BURIED now; may be kicked.
    std::uint64_t cancelled = 0;  ///< Cancelled, deleted, or replaced by a job of another batch.
    std::uint64_t expired = 0;
    std::uint64_t forgotten = 0;  ///< Dropped as one of too many BURIED jobs of its queue.

    /// Jobs that wait or run.
    [[nodiscard]] std::uint64_t pending() const noexcept {
        const auto over = succeeded + buried + cancelled + expired + forgotten;
        return total > over ? total - over : 0;
    }

    friend bool operator==(const JobBatchProgress&, const JobBatchProgress&) = default;
};

/// A batch as it is in the store.
struct JobBatch {
    JobBatchId id = 0;
    JobBatchSettings settings{};
    JobBatchProgress progress{};
    TimePoint created_at{};
    /// Since when it may end. It still takes jobs while one of it waits or runs.
    std::optional<TimePoint> closed_at{};
    std::optional<TimePoint> ended_at{};      ///< When `on_end` was pushed, if there is one.
    std::optional<TimePoint> succeeded_at{};  ///< When `on_success` was pushed, if there is one.
    JobId end_job = 0;                        ///< The job that `on_end` became; 0: none yet.
    JobId success_job = 0;                    ///< The job that `on_success` became; 0: none yet.

    friend bool operator==(const JobBatch&, const JobBatch&) = default;
};

/// A part of the batches, in the order of their ids.
struct JobBatchPage {
    std::vector<JobBatch> batches{};
    JobBatchId next = 0;  ///< What to pass as `after` for what follows; 0 when nothing does.

    friend bool operator==(const JobBatchPage&, const JobBatchPage&) = default;
};

/// What became of the creation of a batch.
struct JobBatchCreated {
    JobBatchId id = 0;
    bool created = true;  ///< Else there is one of that name, which stays as it is.

    friend bool operator==(const JobBatchCreated&, const JobBatchCreated&) = default;
};

/// What became of the closing of a batch.
enum class JobBatchClosure : std::uint8_t {
    closed,   ///< Now, or before.
    unknown,  ///< There is no batch of that id; nothing was changed.
};

}  // namespace routemaster
