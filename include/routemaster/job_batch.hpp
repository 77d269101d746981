/// @file
/// A batch of jobs: the progress of many jobs, and the callbacks that are pushed at their end.
///
///     create ──► OPEN ──close──► CLOSED ──no job waits or runs any more──► ENDED ──► (forgotten)
///                  ▲ jobs join ▲                                             │
///                                            a BURIED job is kicked ─────────┘ and may succeed

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

/// The most bytes of a callback's encoded job.
inline constexpr std::size_t batch_callback_bytes_max = 16'384;

/// The most batches of a store that have not ended. Beyond this bound, no batch can be created.
inline constexpr std::uint32_t job_batches_open_max = 100'000;

/// The most ended batches that a store keeps. Beyond this bound, the batch with the earliest end is
/// forgotten, and counted in `job_batches.forgotten`.
inline constexpr std::uint32_t job_batches_kept_max = 10'000;

/// How long an ended batch is kept. Older batches are forgotten, and counted in
/// `job_batches.forgotten`, two at a time, whenever another batch is created or ends.
inline constexpr Duration job_batches_age_max{std::int64_t{30} * 86'400'000};

/// A job that is pushed once, at the end of a batch.
///
/// Equal jobs in the queue do not exclude a callback, because the callback has a unique key. The
/// store adds the entry `batch`, the id of the batch, to the metadata. The callback does not belong
/// to the batch itself.
struct JobBatchCallback {
    std::string queue;  ///< Not a queue of Ruby Routemaster.
    std::string job;  ///< A job encoded by `encode_job`; at most `batch_callback_bytes_max` bytes.

    // As in `PushOptions`.

    std::uint32_t attempts_max = 25;
    std::int32_t priority = 0;
    Duration timeout{0};
    JobMetadata metadata{};

    friend bool operator==(const JobBatchCallback&, const JobBatchCallback&) = default;
};

/// The settings with which a batch is created.
struct JobBatchSettings {
    /// The name of the batch for people and programs: 1 to `job_batch_name_max` bytes of UTF-8
    /// without NUL. Unique among the batches that the store keeps.
    std::string name;
    /// Pushed when every job of the batch has succeeded.
    std::optional<JobBatchCallback> on_success{};
    /// Pushed when no job of the batch waits or runs any more: each is done, BURIED, or gone.
    std::optional<JobBatchCallback> on_end{};

    friend bool operator==(const JobBatchSettings&, const JobBatchSettings&) = default;
};

/// The progress of a batch. Each job counts in `total`, and at each instant either in `pending` or
/// in a single one of the further counts.
struct JobBatchProgress {
    std::uint64_t total = 0;  ///< Jobs ever pushed into the batch, without duplicates.
    std::uint64_t succeeded = 0;
    std::uint64_t buried = 0;     ///< BURIED now; a kick makes the job pending again.
    std::uint64_t cancelled = 0;  ///< Cancelled, deleted, or replaced by a job outside this batch.
    std::uint64_t expired = 0;
    std::uint64_t forgotten = 0;  ///< Dropped because the queue had too many BURIED jobs.

    /// The number of jobs that wait or run.
    [[nodiscard]] std::uint64_t pending() const noexcept {
        const auto over = succeeded + buried + cancelled + expired + forgotten;
        return total > over ? total - over : 0;
    }

    friend bool operator==(const JobBatchProgress&, const JobBatchProgress&) = default;
};

/// A batch as the store keeps it.
struct JobBatch {
    JobBatchId id = 0;
    JobBatchSettings settings{};
    JobBatchProgress progress{};
    TimePoint created_at{};
    /// When the batch was closed, and so was allowed to end. A closed batch still takes jobs while
    /// one of its jobs waits or runs.
    std::optional<TimePoint> closed_at{};
    std::optional<TimePoint> ended_at{};      ///< When `on_end` was pushed, if there is one.
    std::optional<TimePoint> succeeded_at{};  ///< When `on_success` was pushed, if there is one.
    JobId end_job = 0;                        ///< The job that `on_end` became; 0: none yet.
    JobId success_job = 0;                    ///< The job that `on_success` became; 0: none yet.

    friend bool operator==(const JobBatch&, const JobBatch&) = default;
};

/// A page of batches, in the order of their ids.
struct JobBatchPage {
    std::vector<JobBatch> batches{};
    JobBatchId next = 0;  ///< Pass it as `after` to get the next page; 0 on the last page.

    friend bool operator==(const JobBatchPage&, const JobBatchPage&) = default;
};

/// The reply to the creation of a batch.
struct JobBatchCreated {
    JobBatchId id = 0;
    bool created = true;  ///< False when a batch with this name exists; the batch stays as it is.

    friend bool operator==(const JobBatchCreated&, const JobBatchCreated&) = default;
};

/// How the closing of a batch ended.
enum class JobBatchClosure : std::uint8_t {
    closed,   ///< The batch is closed, by this call or an earlier call.
    unknown,  ///< No batch has this id; nothing was changed.
};

}  // namespace routemaster
