/// @file
/// `JobLeases`: leases of jobs for workers elsewhere, which ask for them with messages, over HTTP
/// for example.
///
///     lease ──► waiting ──► leased ──► done ─────────► gone
///                  │          │ │ └──► failed: again later, or BURIED
///                  │          │ └────► released: again, and the attempt does not count
///                  └─ none    └─ its time is over: failed, and runs again at once

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
    Duration heartbeat_interval{1'000};  ///< How often it says that it is alive; see `WorkerPool`.
    Duration worker_silence{3'500};      ///< Workers silent for so long are taken for dead.
    Duration poll_interval{1'000};       ///< A look at the queues even when nobody woke it.
    Duration wake_grace{20};             ///< As `WorkerPoolOptions::wake_grace`.
    Duration idle_max{10'000};           ///< A queue that nobody asks for so long is left.
    /// Requests that wait at once, and as many more whose `wait` is 0 until the store has replied.
    std::size_t waiting_max = 10'000;
    std::size_t leased_max = 100'000;  ///< Leases at once.
    /// Bytes of the jobs that are leased at once, encoded: each takes some more than twice as much
    /// memory beside that of its store. From there on nobody gets one; what waits already may.
    std::size_t leased_bytes_max = std::size_t{1} << 30U;
    std::size_t queues_max = 256;  ///< Queues in use at once.
    /// Whether it looks for dead workers also while nobody asks for jobs. Somebody must, or their
    /// jobs stay PENDING: a worker in the same process does.
    bool finds_dead = true;
    RetryPolicy retry{};  ///< When a job runs again whose worker does not say when.
    /// Decides the jitter of waits; absent: from the machine.
    std::optional<std::uint64_t> seed{};
    Log log{};  ///< Gets what failed or is BURIED, and whose worker was silent.
};

/// Jobs that one request gets at most, of `job_slice_bytes_max` together.
inline constexpr std::uint32_t leases_per_request_max = 100;

/// Bounds of what a request may ask for.
inline constexpr Duration lease_wait_max{30'000};
inline constexpr Duration lease_time_min{1'000};
inline constexpr Duration lease_time_max{3'600'000};

/// What a worker asks for.
struct LeaseRequest {
    std::string queue{};          ///< None of Ruby Routemaster's.
    std::string worker{};         ///< A name for logs and errors. Two workers may have the same.
    std::uint32_t limit = 1;      ///< 1 to `leases_per_request_max`.
    Duration wait{0};             ///< For a job, up to `lease_wait_max`. 0: not at all.
    Duration lease_time{30'000};  ///< From `lease_time_min` to `lease_time_max`.
    /// The names of the jobs that the worker can do, for explanations: it gets any job all the
    /// same. Empty: not said. At most `profile_names_max`, of `profile_name_bytes_max` each.
    std::vector<std::string> handlers{};
    /// True once the client is gone, so that it is given nothing. Null: nobody knows.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Names one lease, wherever the message about it arrives.
struct LeaseName {
    std::string queue;
    JobId job = 0;
    Uid worker{};             ///< That of `Lease`.
    std::uint64_t fence = 0;  ///< That of `Lease`.
};

/// A job, and the right to do it.
struct LeasedJob {
    Job job;
    Lease lease;
    TimePoint until{};  ///< When the lease ends, unless it is extended.
};

/// What became of an extension.
struct Extension {
    TimePoint until{};       ///< When the lease ends now.
    bool cancelled = false;  ///< The job was cancelled: it goes, unless it succeeds all the same.
};

/// How an attempt ended.
struct AttemptEnd {
    enum class Kind : std::uint8_t {
        done,
        failed,    ///< The attempt counts; with the last one the job is BURIED.
        released,  ///< The attempt does not count.
    };

    Kind kind = Kind::done;
    std::string error{};                    ///< Kept on a job that failed.
    std::optional<Duration> retry_after{};  ///< Absent: as the retry policy says, or at once.
    bool bury = false;                      ///< It failed for good.
    FollowUps follow_ups{};                 ///< Of a job that is done.
};

/// Leases jobs on behalf of workers that cannot talk to the store themselves. To the store they all
/// are one worker, which this object keeps alive; so a worker needs a heartbeat (`extend`) only as
/// often as its own lease time demands.
///
/// **One worker at a time.** A lease ends when its time is over without a word from its worker. The
/// job then has failed once more and runs again at once, elsewhere. Its fence makes sure that a
/// worker that was only slow changes nothing (`lease_lost`). When very many leases are over at
/// once, they end in slices of `job_slice_bytes_max` of jobs, one after the other; until its turn
/// comes, each lasts. If the process of this object dies, its leases end as those of a
/// `WorkerPool`, within 5 s by default, provided that another worker or `JobLeases` lives.
///
/// **Waiting.** A request that waits costs some memory, and no thread. A job that becomes READY
/// wakes one request. Those who wait for a queue are served in their order. A client that is known
/// to be gone gets no job; a job that was leased for one that turns out to be gone is released.
///
/// **A timeout of the job** (`PushOptions::timeout`) counts from its lease, and no extension goes
/// beyond it.
///
/// **Other processes.** Any process on the store settles a lease of another (it reads the job
/// first), but only the one that gave the lease extends it.
///
/// Needs a `Runner`. `close` answers those who wait with `unavailable`, and releases all jobs.
///
/// Thread safety: `lease`, `extend`, `settle` and `drain` from any thread, the rest as `Active`
/// says. Callbacks come from the thread that polls, or one of the store's; they must not block.
class JobLeases final : public Active {
public:
    /// The store must outlive it. Throws `Failure`, `invalid`, for times as `WorkerPoolOptions`
    /// forbids them.
    explicit JobLeases(Store& store, JobLeasesOptions options = {});

    /// Drops requests that wait without a call. `close` it first.
    ~JobLeases() override;

    JobLeases(const JobLeases&) = delete;
    JobLeases& operator=(const JobLeases&) = delete;

    /// Leases READY jobs as soon as there are any; none when `wait` is over. `unavailable` when too
    /// many wait, or the store has no answer.
    void lease(LeaseRequest request, std::function<void(Result<std::vector<LeasedJob>>)> done);

    /// Puts off the end of a lease: it ends so long from now, by default as long as it was leased
    /// for. Nothing when the lease is lost, or was not given by this object. While others may have
    /// taken the lease over, as this process stood still or the store was away, the answer waits
    /// for the store; `unavailable` when that has none within 5 s: the lease then ends so late, if
    /// it is not lost.
    void extend(LeaseName name, std::optional<Duration> lease_time,
                std::function<void(Result<std::optional<Extension>>)> done);

    /// Ends an attempt, and the lease with it. `buried` when the job failed for good. After an
    /// error the lease lasts, but after `timed_out` it is unknown whether it does. Repeating what
    /// succeeded answers `lease_lost`. With follow-ups also the errors of `CompleteJob`.
    void settle(LeaseName name, AttemptEnd end, std::function<void(Result<Settlement>)> done);

    /// From now on nobody waits: `unavailable`. Leases are extended and settled as before.
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
