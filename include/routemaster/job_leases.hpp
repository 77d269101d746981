/// @file
/// `JobLeases`: leases jobs to remote workers, which ask for jobs with messages, for example over
/// HTTP.
///
///     lease ──► waiting ──► leased ──► done ─────────► gone
///                  │          │ │ └──► failed: runs again later, or BURIED
///                  │          │ └────► released: runs again, and the attempt does not count
///                  └─ no job  └─ its time is over: failed, and runs again at once

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
#include "routemaster/step/reply.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {

/// Settings of `JobLeases`.
struct JobLeasesOptions {
    Duration heartbeat_interval{1'000};  ///< The time between heartbeats; see `WorkerPool`.
    Duration worker_silence{3'500};      ///< Workers that are silent for this long count as dead.
    Duration poll_interval{1'000};       ///< The longest time between checks of a queue.
    Duration wake_grace{20};             ///< As `WorkerPoolOptions::wake_grace`.
    Duration idle_max{10'000};  ///< A queue without requests for this long is no longer served.
    /// The most requests that wait at once. Requests with a `wait` of 0, which wait only for the
    /// reply of the store, are counted apart, with an equal limit.
    std::size_t waiting_max = 10'000;
    std::size_t leased_max = 100'000;  ///< The most leases at once.
    /// The most bytes of encoded jobs that are leased at once. Each job takes a little more than
    /// twice its encoded size in memory, in addition to the memory of the store. At the limit, new
    /// requests are `unavailable`, but requests that already wait may still get jobs.
    std::size_t leased_bytes_max = std::size_t{1} << 30U;
    std::size_t queues_max = 256;  ///< The most queues in use at once.
    /// Whether this object looks for dead workers even without requests for jobs. At least one
    /// process must look, or the jobs of dead workers stay PENDING. A worker in this process does
    /// so, too.
    bool finds_dead = true;
    RetryPolicy retry{};  ///< When a failed job runs again if its worker does not say.
    /// Seed of the jitter of waits; absent: random.
    std::optional<std::uint64_t> seed{};
    Log log{};  ///< Gets failed jobs, BURIED jobs, and silent workers.
};

/// The most jobs that one request gets, with at most `job_slice_bytes_max` bytes together.
inline constexpr std::uint32_t leases_per_request_max = 100;

/// The limits of `LeaseRequest::wait` and `LeaseRequest::lease_time`.
inline constexpr Duration lease_wait_max{30'000};
inline constexpr Duration lease_time_min{1'000};
inline constexpr Duration lease_time_max{3'600'000};

/// A worker's request for jobs.
struct LeaseRequest {
    std::string queue{};      ///< Not a queue of Ruby Routemaster.
    std::string worker{};     ///< A name for logs and errors; need not be unique.
    std::uint32_t limit = 1;  ///< 1 to `leases_per_request_max`.
    Duration wait{0};         ///< How long to wait for jobs, up to `lease_wait_max`. 0: no wait.
    Duration lease_time{30'000};  ///< From `lease_time_min` to `lease_time_max`.
    /// The names of the jobs that the worker can run, used only in explanations: the worker still
    /// gets any job. Empty: not known. At most `profile_names_max` names of 1 to
    /// `profile_name_bytes_max` bytes.
    std::vector<std::string> handlers{};
    /// Becomes true when the client is gone: the request then gets no job. Null: not known.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Identifies a lease in later messages about the lease.
struct LeaseName {
    std::string queue;
    JobId job = 0;
    Uid worker{};             ///< As in `Lease`.
    std::uint64_t fence = 0;  ///< That of `Lease`.
};

/// A job and its lease.
struct LeasedJob {
    Job job;
    Lease lease;
    TimePoint until{};  ///< When the lease ends, unless it is extended.
};

/// The reply to an extension.
struct Extension {
    TimePoint until{};       ///< When the lease ends now.
    bool cancelled = false;  ///< The job was cancelled: it is dropped unless the attempt succeeds.
};

/// How an attempt ended.
struct AttemptEnd {
    enum class Kind : std::uint8_t {
        done,
        failed,    ///< The attempt counts; after the last attempt the job is BURIED.
        released,  ///< The attempt does not count.
    };

    Kind kind = Kind::done;
    std::string error{};  ///< The error of a failed job, kept on the job.
    /// The wait before the next attempt. Absent: as the retry policy says, or 0 for `released`.
    std::optional<Duration> retry_after{};
    bool bury = false;       ///< The job failed for good and becomes BURIED.
    FollowUps follow_ups{};  ///< The follow-ups of a job that is done.
};

/// Leases jobs for workers that cannot reach the store themselves. To the store, all these workers
/// are one worker, which this object keeps alive with heartbeats. A remote worker therefore sends
/// its own heartbeats (`extend`) only as often as its lease time demands.
///
/// **One worker at a time.** A lease ends when its time is over without a message from its worker.
/// The attempt has then failed, and the job runs again at once on another worker. The fence
/// (`Lease::fence`) ensures that a slow worker changes nothing any more (`lease_lost`). Very many
/// leases that are over at once end in chunks of `job_slice_bytes_max` bytes of jobs, one after
/// another; each lease lasts until its chunk ends. If the process of this object dies, its leases
/// end like those of a `WorkerPool`: within 5 s by default, if another worker or `JobLeases` is
/// alive.
///
/// **Waiting.** A waiting request takes some memory and no thread. Each newly READY job wakes one
/// request. The requests for a queue are served in their order. A client that is known to be gone
/// gets no job. A job leased for a client that turns out to be gone is released.
///
/// **The timeout of a job** (`PushOptions::timeout`) counts from its lease, and no extension goes
/// beyond the timeout.
///
/// **Other processes.** Any process on the store can settle a lease of another process, after it
/// has read the job. Only the process that gave a lease can extend it.
///
/// Needs a `Runner`. `close` ends waiting requests with `unavailable`, and releases all jobs.
///
/// Thread safety: `lease`, `extend`, `settle` and `drain` may be called from any thread. For the
/// rest, see `Active`. Callbacks run on the thread that polls, or on a thread of the store, and
/// must not block.
class JobLeases final : public Active {
public:
    /// The store must outlive this object. Throws `Failure` with `invalid` for times that
    /// `WorkerPoolOptions` forbids.
    explicit JobLeases(Store& store, JobLeasesOptions options = {});

    /// Drops waiting requests without a call of `done`. Call `close` first.
    ~JobLeases() override;

    JobLeases(const JobLeases&) = delete;
    JobLeases& operator=(const JobLeases&) = delete;

    /// Leases READY jobs as soon as there are any. Returns no job when `wait` is over.
    /// `unavailable` beyond the limits of `JobLeasesOptions`, or when the store does not reply.
    /// `invalid`, naming the field, for a request out of range.
    void lease(LeaseRequest request, std::function<void(Result<std::vector<LeasedJob>>)> done);

    /// Extends a lease: it now ends `lease_time` from now, by default the lease time that was last
    /// set. Returns nothing when the lease is lost, or was not given by this object.
    ///
    /// If another worker may have taken over the job, because this process stood still or the store
    /// was unreachable, the reply waits for the store. `unavailable` when the store does not reply
    /// within 5 s; the lease, if not lost, then ends at the extended time. Also `unavailable` when
    /// more than `waiting_max` extensions wait.
    void extend(LeaseName name, std::optional<Duration> lease_time,
                std::function<void(Result<std::optional<Extension>>)> done);

    /// Ends an attempt and its lease. Returns `buried` when the job is now BURIED. After an error
    /// the lease lasts, but after `timed_out` this is not known. Repeating a settlement that
    /// succeeded returns `lease_lost`. With follow-ups, also returns the errors of `CompleteJob`.
    void settle(LeaseName name, AttemptEnd end, std::function<void(Result<Settlement>)> done);

    /// Ends waiting requests with `unavailable`, and refuses new requests likewise. Leases are
    /// extended and settled as before.
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
