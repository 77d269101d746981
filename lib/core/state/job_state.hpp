/// @file
/// A job of the state machine, and the groups that keep jobs in order.

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

/// Jobs in order: only the first `limit()` of them may be acquired, and a nacked job keeps its
/// place. With a limit of one they run strictly one after the other.
struct OrderingGroup;

/// A worker, and its leased jobs.
struct Worker;

/// A job, in any state. There may be many millions: beside its payload, each takes this, and its
/// place in an index or two.
struct JobState : Entity {
    enum class State : std::uint8_t { scheduled, ready, pending, buried };

    /// Its payload is in that memory, and is freed before its end.
    JobState(SmallBlocks& memory, QueueState& in, std::string_view what, std::uint32_t hash,
             TimePoint at, std::uint64_t number)
        : Entity{Kind::job}, queue{in}, payload{memory, what, hash}, run_at{at}, order{number} {}

    State state = State::scheduled;
    bool eligible : 1 = true;      ///< Stands among the first of its group, so it may be acquired.
    bool in_order : 1 = false;     ///< It is a `GroupedJob`.
    bool counted : 1 = false;      ///< While PENDING: this is an attempt, and attempts are counted.
    bool maybe_begun : 1 = false;  ///< An attempt may have been cut off with the process before.
    bool waiting : 1 = false;      ///< While SCHEDULED: for other jobs, so it has no place by time.
    bool awaited : 1 = false;      ///< Another job waits for it, or did so once.
    bool throttled : 1 = false;    ///< While READY: its group has no token; see `QueueRates`.
    QueueState& queue;
    Payload payload;  ///< Encoded: the identity, unless it has a key.
    TimePoint run_at;
    std::uint64_t order;  ///< Grows with each push; kept for life. Where jobs have ids, its id.
    /// Among those that are READY and eligible, by who may acquire them, unless it has a priority
    /// or is throttled; or at its worker, or among the BURIED.
    ListHook<JobState> in_state;
    std::unique_ptr<JobDetails> details;  ///< Null: defaults, and no attempt before this one.
    Worker* worker = nullptr;             ///< Who leased it; null unless it is PENDING.
    union {
        std::uint64_t fence = 0;  ///< Of its lease, while PENDING.
        std::uint64_t place;      ///< Among those restored into the schedule.
    };

    /// The details, which begin with the defaults.
    JobDetails& detailed() {
        if (details == nullptr) {
            details = std::make_unique<JobDetails>();
            details->attempts = counted ? 1 : 0;
        }
        return *details;
    }
    /// That were begun since it was pushed or kicked. The first one needs no details: most jobs
    /// are done at once.
    [[nodiscard]] std::uint32_t attempts() const noexcept {
        return details != nullptr ? details->attempts : counted ? 1U : 0U;
    }

    /// Whether it has a key, which it may have lost to another.
    [[nodiscard]] bool has_key() const noexcept {
        return details != nullptr && !details->options.key.text.empty();
    }

    /// Of most it is 0.
    [[nodiscard]] std::int32_t priority() const noexcept {
        return details != nullptr ? details->options.priority : 0;
    }

    /// Of most it is 0.
    [[nodiscard]] JobBatchId batch() const noexcept {
        return details != nullptr ? details->options.batch : 0;
    }

    /// Bytes of the job and of the errors that it keeps: most of what is written, and told, of it.
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

    /// The group that it stands in; null for most.
    [[nodiscard]] OrderingGroup* group() const noexcept;
    /// How many of its group may be under way at once, as its push said; 1 without a group.
    [[nodiscard]] std::uint32_t concurrency() const noexcept;
    /// As its push said.
    [[nodiscard]] JobOptions options() const;
    /// Keeps what a push says. Its group stays the one that it was made in.
    void take_options(const JobOptions& options);
    /// Its details were restored: frees them if they say nothing.
    void settle_details() noexcept;
};
static_assert(sizeof(JobState) <= 120, "at most some 152 bytes with its places in the indexes");

/// A job that keeps an order with others, as deliveries do. The many others need no room for it.
struct GroupedJob : JobState {
    GroupedJob(OrderingGroup& among, SmallBlocks& memory, QueueState& in, std::string_view what,
               std::uint32_t hash, TimePoint at, std::uint64_t number)
        : JobState{memory, in, what, hash, at, number}, group{among} {
        in_order = true;
    }

    /// Positions of jobs with ids are microseconds since the epoch.
    static constexpr std::uint64_t positions_per_millisecond = 1'000;
    /// The last instant of a position: up to there Redis keeps them exactly.
    static constexpr std::int64_t position_time_max = 9'007'199'254'740;

    /// Of one with an id that is in its group: when it fell due first, as its position says.
    [[nodiscard]] TimePoint joined_at() const noexcept {
        return from_milliseconds(static_cast<std::int64_t>(position / positions_per_millisecond));
    }

    /// Of one with an id: the first position of what falls due when it does.
    [[nodiscard]] std::uint64_t due_position() const noexcept {
        const auto due = std::clamp<std::int64_t>(to_milliseconds(run_at), 0, position_time_max);
        return static_cast<std::uint64_t>(due) * positions_per_millisecond;
    }

    OrderingGroup& group;
    /// Grows along the group. 0: it is not in the group, as it never was READY or is BURIED.
    std::uint64_t position : 54 = 0;
    std::uint64_t concurrency : 10 = 1;  ///< Of one with an id: what it asks for its group.
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

/// Jobs that are READY and eligible.
using ReadyJobs = IntrusiveList<JobState, &JobState::in_state>;

/// A callback in a process, and what is READY for whoever can call it. It lives as long as the
/// deliveries of any group go there.
struct CallbackState {
    std::string name;
    ReadyJobs ready;
    std::size_t groups = 0;
};

struct OrderingGroup {
    std::string name;
    /// How many of its first jobs may be acquired before any is done.
    static constexpr std::uint32_t start = 16;

    std::uint32_t concurrency = 1;  ///< As its subscriber asked; of jobs, as the last of them did.
    /// The window that has worked so far and that workers have capacity for. Not stored on disk.
    /// Groups of jobs have none: it is wider than any.
    std::uint32_t window = start;
    std::size_t eligible = 0;
    GroupedJob* first_blocked = nullptr;  ///< The first job that is not eligible.
    /// The row of the journal in which jobs were last skipped; 0: none. Until it is on disk they
    /// may come back, and must then come before what stands behind them.
    std::uint64_t skipped_row = 0;
    IntrusiveList<GroupedJob, &GroupedJob::in_group> jobs;
    std::size_t members = 0;  ///< Jobs with an id that name it, in it or not. It ends with them.
    /// Where its jobs are READY; null: among those of their queue, for all who can reach a URL.
    ReadyJobs* ready = nullptr;
    CallbackState* callback = nullptr;  ///< Of which `ready` is a part, if of any.

    /// How many of its first jobs may be acquired.
    [[nodiscard]] std::uint32_t limit() const noexcept { return std::min(concurrency, window); }
};

struct Worker {
    explicit Worker(const Uid& name) : uid{name} {}

    Uid uid;
    TimePoint seen{};
    /// The last sign of life, if that was only assumed, as nobody had looked for dead workers for
    /// long; else `never`.
    TimePoint assumed_seen = never;
    IntrusiveList<JobState, &JobState::in_state> jobs;  ///< PENDING, in the order of their fences.
    std::size_t cancelled = 0;                          ///< Of them.
    LeaseTimes times{};                                 ///< Since when it has them.
    std::shared_ptr<const WorkerProfile> profile{};     ///< Null until the worker sent one.
    TimePoint profiled_at{};                            ///< When the worker sent its last one,
    std::uint32_t busy = 0;                             ///< with how much of its capacity taken,
    TimePoint busy_since = never;                       ///< and since when by its oldest job.
};

}  // namespace routemaster::detail
