/// @file
/// The jobs of a queue that wait for their time.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/state/job_state.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// SCHEDULED jobs by due time and, among equals, in the order of their pushes: a heap in which each
/// job knows its position. Each operation takes logarithmic time.
///
/// A restart may restore millions, all due. They stay sorted beside the heap: taking the first is
/// one step forward instead of a walk through all memory.
///
/// Not thread safe.
class Schedule {
public:
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size() + restored_left_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

    /// Whether `a` runs before `b`.
    [[nodiscard]] static bool earlier(const JobState& a, const JobState& b) noexcept {
        return std::pair{a.run_at, a.order} < std::pair{b.run_at, b.order};
    }

    /// The job that is due first. There must be one.
    [[nodiscard]] JobState& first() const noexcept {
        if (restored_left_ == 0) return *heap_.front().job;
        auto& restored = *restored_[restored_first_];
        return heap_.empty() || earlier(restored, *heap_.front().job) ? restored
                                                                      : *heap_.front().job;
    }

    void insert(JobState& job) {
        heap_.push_back({job.run_at, &job});
        rise(heap_.size() - 1);
    }

    void remove(JobState& job) {
        if ((job.place & is_restored) != 0) return remove_restored(job);
        const auto at = static_cast<std::size_t>(job.place);
        const auto last = heap_.back();
        heap_.pop_back();
        if (last.job == &job) return;
        put(at, last);
        if (at > 0 && earlier(heap_[at], heap_[parent(at)])) {
            rise(at);
        } else {
            sink(at);
        }
    }

    /// Takes over jobs; neither they nor others may be in it. Fastest when they are nearly in
    /// order.
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
        restored_left_ = jobs.size();
        restored_ = std::move(jobs);
    }

    /// How many are due. Of those that were restored it looks at few; of the others, at those that
    /// are due and were not taken yet.
    [[nodiscard]] std::size_t count_due(TimePoint now) const {
        return restored_due(now) + count_due(now, 0);
    }

private:
    struct Slot {
        TimePoint run_at;  // That of the job: most comparisons need only this.
        JobState* job;
    };

    static constexpr std::size_t children = 4;
    static constexpr std::uint64_t is_restored = std::uint64_t{1} << 63U;

    static std::size_t parent(std::size_t at) noexcept { return (at - 1) / children; }

    static bool earlier(const Slot& a, const Slot& b) noexcept {
        return a.run_at != b.run_at ? a.run_at < b.run_at : a.job->order < b.job->order;
    }

    void put(std::size_t at, const Slot& slot) {
        heap_[at] = slot;
        slot.job->place = at;
    }

    void rise(std::size_t at) {
        const auto risen = heap_[at];
        while (at > 0 && earlier(risen, heap_[parent(at)])) {
            put(at, heap_[parent(at)]);
            at = parent(at);
        }
        put(at, risen);
    }

    void sink(std::size_t at) {
        const auto sunk = heap_[at];
        while (true) {
            const auto begin = children * at + 1;
            const auto end = std::min(begin + children, heap_.size());
            if (begin >= end) break;
            auto best = begin;
            for (auto child = begin + 1; child < end; ++child) {
                if (earlier(heap_[child], heap_[best])) best = child;
            }
            if (!earlier(heap_[best], sunk)) break;
            put(at, heap_[best]);
            at = best;
        }
        put(at, sunk);
    }

    void remove_restored(JobState& job) {
        const auto at = static_cast<std::size_t>(job.place & ~is_restored);
        restored_[at] = nullptr;
        if (--restored_left_ == 0) {
            restored_ = {};
            blocks_ = {};
            left_of_ = {};
            restored_first_ = 0;
            return;
        }
        for (auto node = at / block + 1; node < left_of_.size(); node += node & (~node + 1)) {
            ++left_of_[node];
        }
        while (restored_[restored_first_] == nullptr) ++restored_first_;
    }

    /// Counts block by block, and the last of them job by job.
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

    /// Nothing below a job that is not due is due.
    [[nodiscard]] std::size_t count_due(TimePoint now, std::size_t at) const {
        if (at >= heap_.size() || heap_[at].run_at > now) return 0;
        std::size_t due = 1;
        for (std::size_t n = 1; n <= children; ++n) due += count_due(now, children * at + n);
        return due;
    }

    std::vector<Slot> heap_;
    std::vector<JobState*> restored_;  ///< Sorted; null where one has left.
    /// Restored jobs are counted by so many.
    static constexpr std::size_t block = 256;
    std::vector<TimePoint> blocks_;       ///< When the first of each block is or was due.
    std::vector<std::uint32_t> left_of_;  ///< How many have left the blocks: a Fenwick tree.
    std::size_t restored_first_ = 0;      ///< The first that has not.
    std::size_t restored_left_ = 0;
};

}  // namespace routemaster::detail
