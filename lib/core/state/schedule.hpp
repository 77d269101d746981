/// @file
/// `Schedule`: the jobs of a queue that wait for their due times.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/containers/counted_tree.hpp"
#include "core/jobs/state/job_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Priority queue of SCHEDULED jobs, by due time and, with equal due times, by push number. Each
/// operation takes logarithmic time, even if many jobs are due.
///
/// A restart may restore millions of due jobs. Restored jobs stay in a sorted array, with half the
/// memory of a tree.
///
/// Not thread safe.
class Schedule {
public:
    [[nodiscard]] std::size_t size() const noexcept { return inserted_.size() + restored_left_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

    [[nodiscard]] static bool earlier(const JobState& a, const JobState& b) noexcept {
        return std::pair{a.run_at, a.order} < std::pair{b.run_at, b.order};
    }

    /// The job with the earliest due time. The schedule must not be empty.
    [[nodiscard]] JobState& first() const noexcept {
        if (restored_left_ == 0) return *inserted_.first().job;
        auto& restored = *restored_[restored_first_];
        return inserted_.empty() || earlier(restored, *inserted_.first().job)
                   ? restored
                   : *inserted_.first().job;
    }

    /// The job with the latest due time. The schedule must not be empty.
    [[nodiscard]] JobState& last() const noexcept {
        if (restored_left_ == 0) return *inserted_.last().job;
        auto& restored = *restored_[restored_end_ - 1];
        return inserted_.empty() || earlier(*inserted_.last().job, restored)
                   ? restored
                   : *inserted_.last().job;
    }

    void insert(JobState& job) {
        inserted_.insert({job.run_at, &job});
        job.place = 0;
    }

    void remove(JobState& job) {
        if ((job.place & is_restored) != 0) return remove_restored(job);
        inserted_.remove({job.run_at, &job});
    }

    /// Inserts restored jobs into an empty schedule. Fastest when `jobs` is nearly sorted.
    void restore(std::vector<JobState*> jobs) {
        std::sort(jobs.begin(), jobs.end(),
                  [](const JobState* a, const JobState* b) { return earlier(*a, *b); });
        for (std::size_t at = 0; at < jobs.size(); ++at) jobs[at]->place = at | is_restored;
        blocks_.assign((jobs.size() + block - 1) / block, {});
        left_of_.assign(blocks_.size() + 1, 0);
        for (std::size_t at = 0; at < jobs.size(); at += block) {
            blocks_[at / block] = jobs[at]->run_at;
        }
        restored_first_ = 0;
        restored_end_ = jobs.size();
        restored_left_ = jobs.size();
        restored_ = std::move(jobs);
    }

    /// Number of due jobs. Reads only few of them.
    [[nodiscard]] std::size_t count_due(TimePoint now) const {
        return restored_due(now) +
               inserted_.count([now](const Slot& slot) { return slot.run_at <= now; });
    }

private:
    static constexpr std::uint64_t is_restored = std::uint64_t{1} << 63U;

    struct Slot {
        TimePoint run_at;  // Copied from the job, because most comparisons need only the due time.
        JobState* job;

        friend bool operator<(const Slot& a, const Slot& b) noexcept {
            return a.run_at != b.run_at ? a.run_at < b.run_at : a.job->order < b.job->order;
        }
    };

    void remove_restored(JobState& job) {
        const auto at = static_cast<std::size_t>(job.place & ~is_restored);
        restored_[at] = nullptr;
        if (--restored_left_ == 0) {
            restored_ = {};
            blocks_ = {};
            left_of_ = {};
            restored_first_ = 0;
            restored_end_ = 0;
            return;
        }
        for (auto node = at / block + 1; node < left_of_.size(); node += node & (~node + 1)) {
            ++left_of_[node];
        }
        while (restored_[restored_first_] == nullptr) ++restored_first_;
        while (restored_[restored_end_ - 1] == nullptr) --restored_end_;
    }

    /// Adds up the jobs of whole blocks. Counts single jobs in the last block only.
    [[nodiscard]] std::size_t restored_due(TimePoint now) const {
        const auto end = std::upper_bound(blocks_.begin(), blocks_.end(), now);
        if (end == blocks_.begin()) return 0;
        const auto last = static_cast<std::size_t>(end - blocks_.begin()) - 1;
        std::size_t due = last * block;
        for (auto node = last; node > 0; node &= node - 1) due -= left_of_[node];
        const auto until = std::min(restored_.size(), (last + 1) * block);
        for (auto at = last * block; at < until; ++at) {
            if (restored_[at] != nullptr && restored_[at]->run_at <= now) ++due;
        }
        return due;
    }

    CountedTree<Slot> inserted_;
    std::vector<JobState*> restored_;  ///< Sorted. A removed job leaves a null pointer.
    static constexpr std::size_t block = 256;
    std::vector<TimePoint> blocks_;       ///< The due time of each block's first job.
    std::vector<std::uint32_t> left_of_;  ///< Number of removed jobs by block, as a Fenwick tree.
    std::size_t restored_first_ = 0;      ///< Index of the first remaining job.
    std::size_t restored_end_ = 0;
    std::size_t restored_left_ = 0;
};

}  // namespace routemaster::detail
