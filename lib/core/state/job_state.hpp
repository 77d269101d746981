/// @file
/// A job of the state machine, and the ordering groups of jobs.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/containers/intrusive_list.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/state/entity.hpp"
#include "core/state/job_details.hpp"
#include "core/state/lease_times.hpp"
#include "core/state/payload.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster::detail {

struct JobState;
struct QueueState;

/// Jobs in order. Only the first `limit()` jobs are eligible: they may be acquired. A nacked job
/// keeps its position. With a limit of 1, the jobs run one after another.
struct OrderingGroup;

struct Worker;

/// A job in any state. A store may have many millions of jobs. A job takes this struct, its
/// payload, and its entries in one to three indexes.
struct JobState : Entity {
    enum class State : std::uint8_t { scheduled, ready, pending, buried };

    /// The payload lies in `memory` and must be freed before `memory` ends.
    JobState(SmallBlocks& memory, QueueState& in, std::string_view what, std::uint32_t hash,
             TimePoint at, std::uint64_t number)
        : Entity{Kind::job}, queue{in}, payload{memory, what, hash}, run_at{at}, order{number} {}

    State state = State::scheduled;
    bool eligible : 1 = true;      ///< Among the first of its group, so it may be acquired.
    bool in_order : 1 = false;     ///< The object is a `GroupedJob`.
    bool counted : 1 = false;      ///< While PENDING: an attempt runs, and attempts are counted.
    bool maybe_begun : 1 = false;  ///< Restored; an earlier process may have begun an attempt.
    bool waiting : 1 = false;      ///< While SCHEDULED: waits for other jobs, not for `run_at`.
    bool awaited : 1 = false;      ///< Other jobs wait for this job, or did so once.
    bool throttled : 1 = false;    ///< While READY: its group has no token; see `QueueRates`.
    QueueState& queue;
    Payload payload;  ///< Encoded. Identifies a job without a key.
    TimePoint run_at;
    /// Number of the push, and id of a job with an id. Later pushes have greater numbers. Never
    /// changes.
    std::uint64_t order;
    /// Links the job in one of three lists: READY jobs to acquire (if the job is eligible, without
    /// a priority and not throttled), the jobs of its worker (if PENDING), or the BURIED jobs.
    ListHook<JobState> in_state;
    /// Null: all options are defaults, and there was no attempt before the current attempt.
    std::unique_ptr<JobDetails> details;
    Worker* worker = nullptr;  ///< The worker with its lease; null unless PENDING.
    union {
        std::uint64_t fence = 0;  ///< Of its lease, while PENDING.
        std::uint64_t place;      ///< Its index in the restored schedule.
    };

    /// The details. Creates missing details with their defaults.
    JobDetails& detailed() {
        if (details == nullptr) {
            details = std::make_unique<JobDetails>();
            details->attempts = counted ? 1 : 0;
        }
        return *details;
    }
    /// Attempts since the push or kick. A first attempt needs no details, as most jobs succeed at
    /// once.
    [[nodiscard]] std::uint32_t attempts() const noexcept {
        return details != nullptr ? details->attempts : counted ? 1U : 0U;
    }

    /// Whether the push had a key. Another job may have taken the key over since.
    [[nodiscard]] bool has_key() const noexcept {
        return details != nullptr && !details->options.key.text.empty();
    }

    /// 0 by default.
    [[nodiscard]] std::int32_t priority() const noexcept {
        return details != nullptr ? details->options.priority : 0;
    }

    /// 0: the job belongs to no batch.
    [[nodiscard]] JobBatchId batch() const noexcept {
        return details != nullptr ? details->options.batch : 0;
    }

    /// Bytes of the payload and of the stored errors: most of the size of a journal record or a
    /// reply.
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

    /// Its ordering group; null for most jobs.
    [[nodiscard]] OrderingGroup* group() const noexcept;
    /// How many jobs of its group its push wants to run at once; 1 without a group.
    [[nodiscard]] std::uint32_t concurrency() const noexcept;
    [[nodiscard]] JobOptions options() const;
    /// Stores the options of a push. The job stays in its group.
    void take_options(const JobOptions& options);
    /// Frees restored details if they equal the defaults.
    void settle_details() noexcept;
};
static_assert(sizeof(JobState) <= 120, "at most some 152 bytes with its places in the indexes");

/// A job in an ordering group, for example a delivery. A separate type saves space in all jobs
/// without a group.
struct GroupedJob : JobState {
    GroupedJob(OrderingGroup& among, SmallBlocks& memory, QueueState& in, std::string_view what,
               std::uint32_t hash, TimePoint at, std::uint64_t number)
        : JobState{memory, in, what, hash, at, number}, group{among} {
        in_order = true;
    }

    /// Positions of jobs with ids are microseconds since the epoch.
    static constexpr std::uint64_t positions_per_millisecond = 1'000;
    /// The last instant, in milliseconds, that a position can express: Redis stores greater numbers
    /// inexactly.
    static constexpr std::int64_t position_time_max = 9'007'199'254'740;

    /// For a job with an id in its group: when the job first fell due, as its position says.
    [[nodiscard]] TimePoint joined_at() const noexcept {
        return from_milliseconds(static_cast<std::int64_t>(position / positions_per_millisecond));
    }

    /// For a job with an id: the first position in the millisecond `run_at`.
    [[nodiscard]] std::uint64_t due_position() const noexcept {
        const auto due = std::clamp<std::int64_t>(to_milliseconds(run_at), 0, position_time_max);
        return static_cast<std::uint64_t>(due) * positions_per_millisecond;
    }

    OrderingGroup& group;
    /// Grows along the group. 0: the job is not in the group, as the job was never READY or is
    /// BURIED.
    std::uint64_t position : 54 = 0;
    std::uint64_t concurrency : 10 = 1;  ///< For a job with an id: the group's concurrency by its
                                         ///< push.
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

/// READY and eligible jobs.
using ReadyJobs = IntrusiveList<JobState, &JobState::in_state>;

/// A callback in a process, and the READY deliveries for its workers. Lives while a group directs
/// its deliveries to the callback.
struct CallbackState {
    std::string name;
    ReadyJobs ready;
    std::size_t groups = 0;
};

struct OrderingGroup {
    std::string name;
    /// First value of `window`.
    static constexpr std::uint32_t start = 16;

    /// As its subscriber asks. In a group of jobs with ids: as its last job asks.
    std::uint32_t concurrency = 1;
    /// How many jobs may run at once: grows with successes, shrinks with failures and is bounded by
    /// the capacity of the workers. Not stored on disk. Groups of jobs with ids keep the greatest
    /// window.
    std::uint32_t window = start;
    std::size_t eligible = 0;
    GroupedJob* first_blocked = nullptr;  ///< The first job that is not eligible.
    /// The journal row that recorded the last skip of jobs; 0: there was none. If the process dies
    /// before this row is on disk, the skipped jobs are restored and must precede the jobs behind
    /// them.
    std::uint64_t skipped_row = 0;
    IntrusiveList<GroupedJob, &GroupedJob::in_group> jobs;
    /// How many jobs with ids name this group, in the list or not. A group without members ends.
    std::size_t members = 0;
    /// The list of the group's eligible READY jobs. Null: they are in the common list of the queue,
    /// for all workers that can call URLs.
    ReadyJobs* ready = nullptr;
    CallbackState* callback = nullptr;  ///< The owner of `ready`, if it is a callback.

    /// How many of its first jobs may be acquired.
    [[nodiscard]] std::uint32_t limit() const noexcept { return std::min(concurrency, window); }
};

struct Worker {
    explicit Worker(const Uid& name) : uid{name} {}

    Uid uid;
    TimePoint seen{};
    /// Equals `seen` if the last sign of life was only assumed, after a long time without a search
    /// for dead workers; else `never`.
    TimePoint assumed_seen = never;
    IntrusiveList<JobState, &JobState::in_state> jobs;  ///< PENDING, in the order of their fences.
    std::size_t cancelled = 0;                          ///< How many of `jobs` are cancelled.
    LeaseTimes times{};                                 ///< When its leases were granted.
    std::shared_ptr<const WorkerProfile> profile{};     ///< Null before the first profile.
    TimePoint profiled_at{};                            ///< When the worker last sent a profile.
    std::uint32_t busy = 0;                             ///< Its running jobs then.
    TimePoint busy_since = never;                       ///< When the oldest of these jobs began.
};

}  // namespace routemaster::detail
