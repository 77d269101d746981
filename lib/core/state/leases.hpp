/// @file
/// Leases, and the workers that have them.

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

/// All leases, by their fences and by their workers.
///
/// Not thread safe.
class LeaseTable {
public:
    /// `changes` must outlive it.
    explicit LeaseTable(ChangeLog& changes) : changes_{changes} {}

    /// The worker of that id, which begins here when it is not known.
    Worker& worker(const Uid& uid) { return workers_.try_emplace(uid, uid).first->second; }
    /// All workers. Whoever erases one has released its jobs.
    [[nodiscard]] Workers& workers() noexcept { return workers_; }
    [[nodiscard]] const Workers& workers() const noexcept { return workers_; }

    /// The job that a lease gives the right to; null when the lease is lost.
    [[nodiscard]] JobState* find(const Lease& lease) const;
    /// The job that is probably leased under a fence, to be loaded; null when there is none.
    [[nodiscard]] const JobState* guess(std::uint64_t fence) const noexcept {
        return leased_.guess(mark(fence));
    }

    /// Makes a job that is nowhere PENDING, under the next fence.
    void grant(JobState& job, Worker& holder) { grant(job, holder, ++fence_); }
    /// The same under a fence that was assigned before.
    void grant(JobState& job, Worker& holder, std::uint64_t fence);
    /// Notes that these leases of a worker were granted now: those from a fence on.
    static void note_time(Worker& holder, std::uint64_t fence, TimePoint now);
    /// Ends the lease of a job, which is then nowhere.
    void end(JobState& job);

    /// The first job of a worker under a fence greater than `known`. Of all that it has, what it
    /// acquired last is what it does not know.
    [[nodiscard]] static JobState* first_beyond(const Worker& worker, std::uint64_t known);

    /// The fences under which a worker has jobs that were cancelled.
    [[nodiscard]] static std::vector<std::uint64_t> cancelled(const Worker& worker);

    /// The lease of a job that is PENDING.
    [[nodiscard]] static Lease lease_of(const JobState& job);
    /// The same, into one that was just made: it may be in its place already.
    static void describe(const JobState& job, Lease& lease);

    /// Leased jobs that needed isolation when they were leased.
    [[nodiscard]] std::size_t isolated() const noexcept { return isolated_; }

    /// All leases.
    [[nodiscard]] std::vector<Lease> all() const;

    /// The last fence that was assigned.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }
    /// Assigns only fences after `fence` from now on.
    void skip_fences(std::uint64_t fence) noexcept { fence_ = std::max(fence_, fence); }

private:
    /// Fences are numbered one after the other, and the lower half tells many apart.
    static std::uint32_t mark(std::uint64_t fence) noexcept {
        return static_cast<std::uint32_t>(fence);
    }

    ChangeLog& changes_;
    Workers workers_;
    HashIndex<JobState> leased_;  ///< PENDING jobs, by their fences.
    std::uint64_t fence_ = 0;
    std::size_t isolated_ = 0;
};

}  // namespace routemaster::detail
