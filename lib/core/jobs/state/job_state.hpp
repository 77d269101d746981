/// @file
/// `JobState`, a job of the state machine, and `OrderingGroup`, jobs that run in order.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/containers/intrusive_list.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/jobs/state/job_details.hpp"
#include "core/jobs/state/lease_times.hpp"
#include "core/state/entity.hpp"
#include "core/state/payload.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster::detail {

struct JobState;
struct QueueState;

/// List of jobs that run in order. Only the first `limit()` jobs are *eligible*: workers may
/// acquire them. A nacked job keeps its position. With a limit of 1, the jobs run one after
/// another.
struct OrderingGroup;

struct Worker;

/// A job in any state. A store may have many millions of jobs, so size matters. A job takes this
/// struct, its payload, and its entries in one to three indexes.
struct JobState : Entity {
    enum class State : std::uint8_t { scheduled, ready, pending, buried };

    /// `memory` stores the payload, which must be freed before `memory` is destroyed.
    JobState(SmallBlocks& memory, QueueState& in, std::string_view what, std::uint32_t hash,
             TimePoint at, std::uint64_t number)
        : Entity{Kind::job}, queue{in}, payload{memory, what, hash}, run_at{at}, order{number} {}

    State state = State::scheduled;
    bool eligible : 1 = true;      ///< Within the `limit()` of its group: may be acquired.
    bool in_order : 1 = false;     ///< The object is a `GroupedJob`.
    bool counted : 1 = false;      ///< While PENDING: an attempt runs, and attempts are counted.
    bool maybe_begun : 1 = false;  ///< Restored. An attempt may have begun before a restart.
    bool waiting : 1 = false;      ///< While SCHEDULED: waits for other jobs, not for `run_at`.
    bool awaited : 1 = false;      ///< Jobs wait for this job, or did at some time.
    bool throttled : 1 = false;    ///< While READY: no token for its group; see `QueueRates`.
    QueueState& queue;
    Payload payload;  ///< Encoded job. It identifies a job without a key.
    TimePoint run_at;
    /// Number of the push, and the id of a job with an id. Later pushes have greater numbers. The
    /// number never changes.
    std::uint64_t order;
    /// Links the job in one of three lists: the READY jobs (if the job is eligible, not throttled,
    /// and without a priority), the leased jobs of its worker (if PENDING), or the BURIED jobs.
    ListHook<JobState> in_state;
    /// Null if all options are defaults, and no attempt ended before the current attempt.
    std::unique_ptr<JobDetails> details;
    Worker* worker = nullptr;  ///< The worker with the lease; null unless PENDING.
    union {
        std::uint64_t fence = 0;  ///< While PENDING: the increasing number of its lease.
        std::uint64_t place;      ///< For a restored job: its index in `Schedule::restored_`.
    };

    /// The details. Missing details are created with default values.
    JobDetails& detailed() {
        if (details == nullptr) {
            details = std::make_unique<JobDetails>();
            details->attempts = counted ? 1 : 0;
        }
        return *details;
    }
    /// Attempts since the push or kick. The first attempt is not stored in details, because most
    /// jobs succeed at once and then need no details.
    [[nodiscard]] std::uint32_t attempts() const noexcept {
        return details != nullptr ? details->attempts : counted ? 1U : 0U;
    }

    /// Whether the push had a key. Another job may have replaced this job as the owner of the key.
    [[nodiscard]] bool has_key() const noexcept {
        return details != nullptr && !details->options.key.text.empty();
    }

    [[nodiscard]] std::int32_t priority() const noexcept {
        return details != nullptr ? details->options.priority : 0;
    }

    /// The batch of the job; 0 without a batch.
    [[nodiscard]] JobBatchId batch() const noexcept {
        return details != nullptr ? details->options.batch : 0;
    }

    /// Bytes of the payload and of the stored errors. They are most of the size of a journal record
    /// or of a reply.
    [[nodiscard]] std::size_t size_with_errors() const noexcept {
        auto size = payload.size();
        if (details == nullptr) return size;
        for (const auto& error : details->errors) size += error.text.size();
        return size;
    }

    [[nodiscard]] bool cancelled() const noexcept {
        return details != nullptr && details->cancelled;
    }

    [[nodiscard]] bool cut_off() const noexcept { return details != nullptr && details->cut_off; }

    [[nodiscard]] bool needs_isolation() const noexcept {
        return details != nullptr && details->needs_isolation();
    }

    [[nodiscard]] OrderingGroup* group() const noexcept;
    /// The concurrency that the push requested for its group; 1 without a group.
    [[nodiscard]] std::uint32_t concurrency() const noexcept;
    [[nodiscard]] JobOptions options() const;
    /// Stores the options of a push. The job stays in its group.
    void take_options(const JobOptions& options);
    /// Frees the details of a restored job if they equal the defaults.
    void settle_details() noexcept;
};
static_assert(sizeof(JobState) <= 120, "at most some 152 bytes with its places in the indexes");

/// A job in an ordering group, for example a delivery. A separate type saves memory in all jobs
/// without a group.
struct GroupedJob : JobState {
    GroupedJob(OrderingGroup& among, SmallBlocks& memory, QueueState& in, std::string_view what,
               std::uint32_t hash, TimePoint at, std::uint64_t number)
        : JobState{memory, in, what, hash, at, number}, group{among} {
        in_order = true;
    }

    /// Positions of jobs with ids are times in microseconds since the Unix epoch.
    static constexpr std::uint64_t positions_per_millisecond = 1'000;
    /// The last instant, in milliseconds, that a position can express. Greater numbers would lose
    /// precision in Redis, which uses floating-point scores.
    static constexpr std::int64_t position_time_max = 9'007'199'254'740;

    /// For a job with an id in its group: when the job first became due. The position encodes this
    /// time.
    [[nodiscard]] TimePoint joined_at() const noexcept {
        return from_milliseconds(static_cast<std::int64_t>(position / positions_per_millisecond));
    }

    /// For a job with an id: the first position in the millisecond of `run_at`.
    [[nodiscard]] std::uint64_t due_position() const noexcept {
        const auto due = std::clamp<std::int64_t>(to_milliseconds(run_at), 0, position_time_max);
        return static_cast<std::uint64_t>(due) * positions_per_millisecond;
    }

    OrderingGroup& group;
    /// Position in the group; positions increase along the group. 0 if the job is not in the
    /// group's list, because it was never READY or is BURIED.
    std::uint64_t position : 54 = 0;
    std::uint64_t concurrency : 10 = 1;  ///< With an id: concurrency requested by the push.
    ListHook<GroupedJob> in_group;

    void set_position(std::uint64_t where) noexcept {
        position = where & ((std::uint64_t{1} << 54U) - 1);
    }
    void set_concurrency(std::uint32_t asked) noexcept {
        static_assert(group_concurrency_max <= 0x3ff);
        concurrency = asked & 0x3ffU;
    }
};

inline OrderingGroup* JobState::group() const noexcept {
    return in_order ? &static_cast<const GroupedJob&>(*this).group : nullptr;
}

inline std::uint32_t JobState::concurrency() const noexcept {
    return in_order ? static_cast<const GroupedJob&>(*this).concurrency : 1;
}

using ReadyJobs = IntrusiveList<JobState, &JobState::in_state>;

/// A callback function of a process, with the READY deliveries for it. It exists while a group
/// directs its deliveries to the callback.
struct CallbackState {
    std::string name;
    ReadyJobs ready;
    std::size_t groups = 0;
};

struct OrderingGroup {
    std::string name;
    static constexpr std::uint32_t start = 16;

    /// Limit of jobs of the group that may run at once. For deliveries, the subscriber sets this
    /// limit. In a group of jobs with ids, the last job of the group sets it.
    std::uint32_t concurrency = 1;
    /// Adaptive limit of jobs that run at once: it grows with successes, shrinks with failures, and
    /// is bounded by the capacity of the workers. Not stored on disk. In groups of jobs with ids,
    /// the window always has its maximum.
    std::uint32_t window = start;
    std::size_t eligible = 0;
    GroupedJob* first_blocked = nullptr;  ///< The first job that is not eligible.
    /// The journal row of the last removal of unsuccessful jobs from this group; 0 before any
    /// removal. If a crash loses this row, the removed jobs are restored, and would run after later
    /// jobs. A reply with a later job therefore waits until this row is on disk.
    std::uint64_t skipped_row = 0;
    IntrusiveList<GroupedJob, &GroupedJob::in_group> jobs;
    /// The number of jobs with ids that belong to this group, even before they enter the list. A
    /// group without members is removed.
    std::size_t members = 0;
    /// The list of the group's eligible READY jobs. Null: they are in the queue's common list, for
    /// all workers that can deliver to URLs.
    ReadyJobs* ready = nullptr;
    /// The callback that owns `ready`; null without a callback.
    CallbackState* callback = nullptr;

    /// How many of its first jobs may be acquired.
    [[nodiscard]] std::uint32_t limit() const noexcept { return std::min(concurrency, window); }
};

struct Worker {
    explicit Worker(const Uid& name) : uid{name} {}

    Uid uid;
    TimePoint seen{};
    /// Equals `seen` if the last sign of life was only assumed, because no search for dead workers
    /// had run for a long time. Otherwise `never`.
    TimePoint assumed_seen = never;
    IntrusiveList<JobState, &JobState::in_state> jobs;  ///< PENDING, in the order of their fences.
    std::size_t cancelled = 0;
    LeaseTimes times{};                              ///< When each lease was granted.
    std::shared_ptr<const WorkerProfile> profile{};  ///< Null before the first profile.
    TimePoint profiled_at{};                         ///< When the worker last sent a profile.
    std::uint32_t busy = 0;        ///< Running jobs, by the latest heartbeat with a profile.
    TimePoint busy_since = never;  ///< When the oldest running job began.
};

}  // namespace routemaster::detail
