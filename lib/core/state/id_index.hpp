/// @file
/// Jobs in the order of their ids.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/state/job_state.hpp"

namespace routemaster::detail {

/// Finds jobs by id and visits jobs in the order of their ids. Jobs stand in sorted blocks: a job
/// takes little more than the 8 bytes of a pointer, and each operation takes logarithmic time.
///
/// Does not own jobs. Not thread safe.
class IdIndex {
public:
    [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }

    /// Inserts a job that is not in the index.
    void insert(JobState& job);
    /// Removes a job that is in the index.
    void remove(const JobState& job);

    /// The job with this id, or null.
    [[nodiscard]] JobState* find(std::uint64_t id) const;

    /// Calls `visit` with the jobs whose ids are greater than `id`, in order, until `visit` returns
    /// false.
    template <class Visit>
    void after(std::uint64_t id, Visit visit) const {
        if (id == UINT64_MAX) return;
        for (auto block = block_of(id + 1); block != blocks_.end(); ++block) {
            for (auto* job : block->second.jobs()) {
                if (job->order > id && !visit(*job)) return;
            }
        }
    }

private:
    /// Jobs in order. Removing the first job moves no jobs, and most removed jobs are the first.
    class Block {
    public:
        explicit Block(std::vector<JobState*> jobs) : jobs_{std::move(jobs)} {}

        [[nodiscard]] std::span<JobState* const> jobs() const {
            return std::span{jobs_}.subspan(gone_);
        }
        void append(std::span<JobState* const> jobs);
        /// Reserves memory for `jobs` jobs.
        void expect(std::size_t jobs) { jobs_.reserve(jobs); }
        void insert(JobState& job);
        void remove(const JobState& job);
        /// Removes and returns the second half.
        std::vector<JobState*> split();

    private:
        /// Removes the unused entries in front.
        void close_up();

        std::vector<JobState*> jobs_;
        std::size_t gone_ = 0;  ///< Unused entries in front.
    };
    /// By a lower bound of the ids in the block. The bound is greater than all ids in earlier
    /// blocks.
    using Blocks = std::map<std::uint64_t, Block>;

    static constexpr std::size_t block_max = 256;

    /// The block for this id: the first block if all blocks begin behind the id.
    [[nodiscard]] Blocks::const_iterator block_of(std::uint64_t id) const;

    Blocks blocks_;
};

}  // namespace routemaster::detail
