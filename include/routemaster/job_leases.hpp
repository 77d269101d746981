/// @file
/// `JobLeases`: leases jobs to remote workers, which request jobs by messages, for example over
/// HTTP.
///
///     lease ──► waiting ──► leased ──► done ─────────► removed
///                  │          │ │ └──► failed: retried later, or BURIED
///                  │          │ └────► released: runs again, and the attempt does not count
///                  └─ no job  └─ expired: failed, and retried at once

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/active.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/job.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// Settings of a `JobLeases` object.
struct JobLeasesOptions {
    Duration heartbeat_interval{1'000};  ///< The time between heartbeats; see `WorkerPool`.
    Duration worker_silence{3'500};  ///< Workers without a heartbeat for this long count as dead.
    Duration poll_interval{1'000};   ///< Maximum time between two polls of a queue.
    Duration wake_grace{20};         ///< As `WorkerPoolOptions::wake_grace`.
    Duration idle_max{10'000};  ///< A queue without requests for this long is no longer polled.
    /// Maximum number of requests that wait for jobs. Requests with a `wait` of 0, which wait only
    /// for a reply of the store, are counted separately, with an equal limit.
    std::size_t waiting_max = 10'000;
    std::size_t leased_max = 100'000;  ///< Maximum number of leases.
    /// Maximum bytes of encoded jobs that are leased. A leased job uses about twice its encoded
    /// size of memory, in addition to the memory of the store. At the limit, new requests are
    /// `unavailable`, but requests that already wait may still get jobs.
    std::size_t leased_bytes_max = std::size_t{1} << 30U;
    std::size_t queues_max = 256;  ///< Maximum number of queues polled.
    /// Whether this object detects dead workers even while no request waits. At least one process
    /// must do so, or the jobs of dead workers stay PENDING. `WorkerPool` and `DeliveryWorker` do
    /// so, in any process.
    bool finds_dead = true;
    RetryPolicy retry{};  ///< When a failed job is retried, unless its worker specifies a delay.
    /// Seed for the jitter of delays; absent: random.
    std::optional<std::uint64_t> seed{};
    Log log{};  ///< Logs failed jobs, BURIED jobs, and workers without heartbeats.
};

/// Maximum jobs of a request. Their size is at most `job_slice_bytes_max` bytes together.
inline constexpr std::uint32_t leases_per_request_max = 100;

/// The limits of `LeaseRequest::wait` and `LeaseRequest::lease_time`.
inline constexpr Duration lease_wait_max{30'000};
inline constexpr Duration lease_time_min{1'000};
inline constexpr Duration lease_time_max{3'600'000};

/// A request for jobs by a remote worker.
struct LeaseRequest {
    std::string queue{};          ///< Not a queue of Ruby Routemaster.
    std::string worker{};         ///< A name for logs and errors; need not be unique.
    std::uint32_t limit = 1;      ///< 1 to `leases_per_request_max`.
    Duration wait{0};             ///< Maximum wait for jobs, up to `lease_wait_max`. 0: none.
    Duration lease_time{30'000};  ///< From `lease_time_min` to `lease_time_max`.
    /// The names of the jobs that the worker can run, used only in explanations: the worker still
    /// gets jobs with any name. Empty: unknown. At most `profile_names_max` names of 1 to
    /// `profile_name_bytes_max` bytes.
    std::vector<std::string> handlers{};
    /// Set to true when the client has disconnected: the request then gets no job. Null: unknown.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Identifies a lease in later messages about the lease.
struct LeaseName {
    std::string queue;
    JobId job = 0;
    Uid worker{};             ///< As in `Lease`.
    std::uint64_t fence = 0;  ///< As in `Lease`.
};

/// A leased job.
struct LeasedJob {
    Job job;
    Lease lease;
    TimePoint until{};  ///< When the lease expires, unless it is extended.
};

/// The reply to the extension of a lease.
struct Extension {
    TimePoint until{};       ///< When the lease expires now.
    bool cancelled = false;  ///< The job was cancelled; it is dropped unless the attempt succeeds.
};

/// The result of an attempt, as its worker reports it.
struct AttemptEnd {
    enum class Kind : std::uint8_t {
        done,
        failed,    ///< The attempt counts; a job without attempts left is BURIED.
        released,  ///< The attempt does not count.
    };

    Kind kind = Kind::done;
    std::string error{};  ///< The error of a failed attempt, stored with the job.
    /// Delay before the next attempt. Absent: by the retry policy, or 0 for `released`.
    std::optional<Duration> retry_after{};
    bool bury = false;       ///< The attempt failed permanently: the job becomes BURIED.
    FollowUps follow_ups{};  ///< Jobs, events and timers to be added when the job completes.
};

/// Polled object that leases jobs to workers which cannot call the store themselves. To the store,
/// all these workers are a single worker, kept alive by heartbeats of this object. A remote worker
/// therefore sends its own heartbeats (`extend`) only as often as its lease time demands.
///
/// **One worker at a time.** A lease expires when its lease time has passed without a message
/// from its worker. The attempt has then failed, and the job runs again at once on another
/// worker. The fence (`Lease::fence`) ensures that a slow worker's settlement is rejected
/// (`lease_lost`). If very many leases expire at once, they end in chunks of
/// `job_slice_bytes_max` bytes of jobs. A lease remains valid until its chunk ends. If the
/// process of this object dies, its leases end like those of a `WorkerPool`: within 5 s by
/// default, if another worker or `JobLeases` is alive.
///
/// **Waiting.** A waiting request uses some memory and no thread. When a job becomes READY, one
/// request is woken. The requests for a queue are served in order of arrival. A disconnected client
/// gets no job. If the client of a new lease turns out to have disconnected, the job is released.
///
/// **The timeout of a job** (`PushOptions::timeout`) counts from its lease. No extension can exceed
/// the timeout.
///
/// **Other processes.** Every process on the store can settle a lease that another process gave, by
/// reading the job from the store. Only the process that gave a lease can extend it.
///
/// Needs a `Runner`. `close` completes waiting requests with `unavailable`, and releases all jobs.
///
/// Thread safety: `lease`, `extend`, `settle` and `drain` may be called from any thread. For the
/// rest, see `Active`. Callbacks run on the thread that polls, or on a thread of the store, and
/// must not block.
class JobLeases final : public Active {
public:
    /// The store must outlive this object. Throws `Failure` with `invalid` for durations that are
    /// invalid in `WorkerPoolOptions`.
    explicit JobLeases(Store& store, JobLeasesOptions options = {});

    /// Drops waiting requests without a call of `done`. Call `close` first.
    ~JobLeases() override;

    JobLeases(const JobLeases&) = delete;
    JobLeases& operator=(const JobLeases&) = delete;

    /// Leases READY jobs as soon as there are any. Returns no jobs when `wait` has passed.
    /// `unavailable` beyond the limits of `JobLeasesOptions`, or when the store does not reply.
    /// `invalid`, naming the field, for a request out of range.
    void lease(LeaseRequest request, std::function<void(Result<std::vector<LeasedJob>>)> done);

    /// Extends a lease: it now expires `lease_time` from now; without `lease_time`, its last lease
    /// time is used. Returns nothing if the lease is lost, or was given by another object.
    ///
    /// If another worker may have acquired the job, because this process was suspended or the store
    /// was unreachable, the reply waits for the store. `unavailable` when the store does not reply
    /// within 5 s; the lease, if not lost, then expires at the extended time. Also `unavailable`
    /// when more than `waiting_max` extensions wait.
    void extend(LeaseName name, std::optional<Duration> lease_time,
                std::function<void(Result<std::optional<Extension>>)> done);

    /// Ends an attempt and its lease. Returns `buried` when the job is now BURIED. After an error
    /// the lease continues, except after `timed_out`, when this is unknown. Repeating a successful
    /// settlement returns `lease_lost`. If `end` has follow-ups, also returns the errors of
    /// `CompleteJob`.
    void settle(LeaseName name, AttemptEnd end, std::function<void(Result<Settlement>)> done);

    /// Completes waiting requests with `unavailable`, and rejects new requests likewise. Leases can
    /// be extended and settled as before.
    void drain();

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
