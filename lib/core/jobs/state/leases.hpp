/// @file
/// Leases and their workers.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "core/containers/hash_index.hpp"
#include "core/jobs/state/job_slice.hpp"
#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "core/state/entity.hpp"
#include "routemaster/job.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

struct WorkerOrder {
    using is_transparent = void;

    static std::string_view text(const Uid& uid) noexcept { return uid.text(); }
    static std::string_view text(std::string_view any) noexcept { return any; }

    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
        return text(a) < text(b);
    }
};

using Workers = std::map<Uid, Worker, WorkerOrder>;

/// Table of all leases, by fence and by worker. A *detached* job is in the index of its queue, but
/// in none of the lists of jobs by state.
///
/// Not thread safe.
class LeaseTable {
public:
    /// `changes` must outlive the table.
    explicit LeaseTable(ChangeLog& changes) : changes_{changes} {}

    Worker& worker(const Uid& uid) { return workers_.try_emplace(uid, uid).first->second; }
    /// All workers. The jobs of a worker must be released before the worker is erased.
    [[nodiscard]] Workers& workers() noexcept { return workers_; }
    [[nodiscard]] const Workers& workers() const noexcept { return workers_; }

    [[nodiscard]] JobState* find(const Lease& lease) const;
    /// The job that is probably leased under this fence; null if absent. Only for prefetching.
    [[nodiscard]] const JobState* guess(std::uint64_t fence) const noexcept {
        return leased_.guess(mark(fence));
    }

    void grant(JobState& job, Worker& holder) { grant(job, holder, ++fence_); }
    /// Makes a detached job PENDING under a fence that was assigned earlier.
    void grant(JobState& job, Worker& holder, std::uint64_t fence);
    static void note_time(Worker& holder, std::uint64_t fence, TimePoint now);
    void end(JobState& job);

    /// The worker's first job with a fence greater than `known`, or null. Searches from the newest
    /// lease, because the leases that a worker does not know yet are the newest.
    [[nodiscard]] static JobState* first_beyond(const Worker& worker, std::uint64_t known);

    [[nodiscard]] static std::vector<std::uint64_t> cancelled(const Worker& worker);

    [[nodiscard]] static Lease lease_of(const JobState& job);
    /// Writes the lease of a PENDING job into `lease`, which must be newly constructed. This avoids
    /// a move.
    static void describe(const JobState& job, Lease& lease);

    /// Calls `release` with the leased jobs of a worker, oldest first, until the limit of `slice`
    /// is reached. `release` must end the lease.
    static void release_all(Worker& worker, JobSlice& slice,
                            const std::function<void(JobState&)>& release);

    /// Number of leased jobs in need of isolation when leased.
    [[nodiscard]] std::size_t isolated() const noexcept { return isolated_; }

    [[nodiscard]] std::vector<Lease> all() const;

    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }
    /// Assigns only fences greater than `fence` from now on.
    void skip_fences(std::uint64_t fence) noexcept { fence_ = std::max(fence_, fence); }

private:
    /// The hash of a fence: its lower half. Fences are consecutive, so the lower halves differ.
    static std::uint32_t mark(std::uint64_t fence) noexcept {
        return static_cast<std::uint32_t>(fence);
    }

    ChangeLog& changes_;
    Workers workers_;
    HashIndex<JobState> leased_;  ///< PENDING jobs by fence.
    std::uint64_t fence_ = 0;
    std::size_t isolated_ = 0;
};

}  // namespace routemaster::detail
