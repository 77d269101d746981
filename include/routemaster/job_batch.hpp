/// @file
/// `JobBatch`: the progress of many jobs as a unit, and callbacks that are pushed at their end.
///
///     create ──► OPEN ──close──► CLOSED ──no job waits or runs any more──► ENDED ──► (evicted)
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

/// Maximum length of the name of a batch of jobs, in bytes.
inline constexpr std::size_t job_batch_name_max = 128;

/// Maximum size of a callback's encoded job, in bytes.
inline constexpr std::size_t batch_callback_bytes_max = 16'384;

/// Maximum number of unfinished batches in a store. At this limit no batch can be created.
inline constexpr std::uint32_t job_batches_open_max = 100'000;

/// Maximum number of ended batches in a store. Beyond this limit, the batch with the earliest end
/// is evicted, and counted in `job_batches.forgotten`.
inline constexpr std::uint32_t job_batches_kept_max = 10'000;

/// How long an ended batch is retained. Whenever another batch is created or ends, up to two older
/// batches are evicted, and counted in `job_batches.forgotten`.
inline constexpr Duration job_batches_age_max{std::int64_t{30} * 86'400'000};

/// A job that the store pushes once, at the end of a batch.
///
/// Equal jobs in the queue do not exclude a callback, because the store gives it a unique key. The
/// store adds the id of the batch to the callback's metadata, under the name `batch`. The callback
/// is not a job of the batch.
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

/// The settings for creating a batch.
struct JobBatchSettings {
    /// A name for people and programs: 1 to `job_batch_name_max` bytes of UTF-8 without NUL. Unique
    /// among the batches in the store.
    std::string name;
    /// Pushed when all jobs of the batch have succeeded.
    std::optional<JobBatchCallback> on_success{};
    /// Pushed when all jobs of the batch have ended: each is done, BURIED, or removed.
    std::optional<JobBatchCallback> on_end{};

    friend bool operator==(const JobBatchSettings&, const JobBatchSettings&) = default;
};

/// Progress counters of a batch. Each job counts in `total`, and at each instant in exactly one of
/// `pending` and the other counts.
struct JobBatchProgress {
    std::uint64_t total = 0;  ///< Jobs ever pushed into the batch, without duplicates.
    std::uint64_t succeeded = 0;
    std::uint64_t buried = 0;     ///< BURIED now; a kick makes the job pending again.
    std::uint64_t cancelled = 0;  ///< Cancelled, deleted, or replaced by a job outside this batch.
    std::uint64_t expired = 0;
    std::uint64_t forgotten = 0;  ///< Evicted because the queue had too many BURIED jobs.

    /// The number of jobs that wait or run.
    [[nodiscard]] std::uint64_t pending() const noexcept {
        const auto over = succeeded + buried + cancelled + expired + forgotten;
        return total > over ? total - over : 0;
    }

    friend bool operator==(const JobBatchProgress&, const JobBatchProgress&) = default;
};

/// A batch of jobs, as stored.
struct JobBatch {
    JobBatchId id = 0;
    JobBatchSettings settings{};
    JobBatchProgress progress{};
    TimePoint created_at{};
    /// When the batch was closed. Only a closed batch can end. Jobs may still join a closed batch
    /// while one of its jobs waits or runs.
    std::optional<TimePoint> closed_at{};
    std::optional<TimePoint> ended_at{};      ///< When `on_end` was pushed, if there is one.
    std::optional<TimePoint> succeeded_at{};  ///< When `on_success` was pushed, if there is one.
    JobId end_job = 0;                        ///< The id of the job of `on_end`; 0: not pushed.
    JobId success_job = 0;                    ///< The id of the job of `on_success`; 0: not pushed.

    friend bool operator==(const JobBatch&, const JobBatch&) = default;
};

/// A page of batches, in the order of their ids.
struct JobBatchPage {
    std::vector<JobBatch> batches{};
    JobBatchId next = 0;  ///< Pass this as `after` to get the next page; 0 on the last page.

    friend bool operator==(const JobBatchPage&, const JobBatchPage&) = default;
};

/// The reply to the creation of a batch.
struct JobBatchCreated {
    JobBatchId id = 0;
    bool created = true;  ///< False if a batch with this name exists; it was not changed.

    friend bool operator==(const JobBatchCreated&, const JobBatchCreated&) = default;
};

/// The reply to closing a batch.
enum class JobBatchClosure : std::uint8_t {
    closed,   ///< The batch is closed now; it may have been closed before.
    unknown,  ///< No batch has this id; nothing was changed.
};

}  // namespace routemaster
