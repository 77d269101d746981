/// @file
/// Leases and their workers.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "core/containers/hash_index.hpp"
#include "core/state/entity.hpp"
#include "core/state/job_state.hpp"
#include "core/state/queue_state.hpp"
#include "routemaster/job.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// Orders workers by the texts of their ids.
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

/// All leases, by fence and by worker. A *detached* job stands in the index of its queue only.
///
/// Not thread safe.
class LeaseTable {
public:
    /// `changes` must outlive the table.
    explicit LeaseTable(ChangeLog& changes) : changes_{changes} {}

    /// The worker of this id. Creates an unknown worker.
    Worker& worker(const Uid& uid) { return workers_.try_emplace(uid, uid).first->second; }
    /// All workers. Release the jobs of a worker before you erase it.
    [[nodiscard]] Workers& workers() noexcept { return workers_; }
    [[nodiscard]] const Workers& workers() const noexcept { return workers_; }

    /// The job under this lease; null when the lease is lost.
    [[nodiscard]] JobState* find(const Lease& lease) const;
    /// The job that is probably leased under this fence, to prefetch; null if there is none.
    [[nodiscard]] const JobState* guess(std::uint64_t fence) const noexcept {
        return leased_.guess(mark(fence));
    }

    /// Makes a detached job PENDING under the next fence.
    void grant(JobState& job, Worker& holder) { grant(job, holder, ++fence_); }
    /// Makes a detached job PENDING under a fence assigned before.
    void grant(JobState& job, Worker& holder, std::uint64_t fence);
    /// Records `now` as the time of the worker's leases from `fence` on.
    static void note_time(Worker& holder, std::uint64_t fence, TimePoint now);
    /// Ends the lease of a job. The job is then detached.
    void end(JobState& job);

    /// The worker's first job with a fence greater than `known`, or null. Searches from the newest
    /// lease, as unknown leases are the newest.
    [[nodiscard]] static JobState* first_beyond(const Worker& worker, std::uint64_t known);

    /// The fences of the worker's cancelled jobs.
    [[nodiscard]] static std::vector<std::uint64_t> cancelled(const Worker& worker);

    /// The lease of a PENDING job.
    [[nodiscard]] static Lease lease_of(const JobState& job);
    /// Writes the lease of a PENDING job into `lease`, a new object. Avoids a move.
    static void describe(const JobState& job, Lease& lease);

    /// Number of leased jobs that needed isolation when leased.
    [[nodiscard]] std::size_t isolated() const noexcept { return isolated_; }

    [[nodiscard]] std::vector<Lease> all() const;

    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }
    /// Assigns only fences greater than `fence` from now on.
    void skip_fences(std::uint64_t fence) noexcept { fence_ = std::max(fence_, fence); }

private:
    /// A hash of a fence. Fences are consecutive, so their lower halves differ.
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
